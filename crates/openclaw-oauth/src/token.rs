//! Asking for tokens.

mod answer;

use http::StatusCode;
use openclaw_secrets::Secret;
use url::Url;

use crate::asking::{Asking, Form, Refusal, shown};
use crate::authentication::Proof;
use crate::client::Registration;
use crate::error::{OAuthError, quoted};
use answer::Fields;

/// What a token is asked for with.
#[derive(Clone, Copy)]
pub(crate) enum TokenGrant<'a> {
    /// What a browser brought (RFC 6749 §4.1.3).
    Code {
        /// What it brought.
        code: &'a Secret,
        /// What proves that we sent it (RFC 7636 §4.5).
        verifier: &'a Secret,
        /// Where it was sent to.
        redirect_uri: &'a str,
    },
    /// A token that is for this (RFC 6749 §6).
    Refresh {
        /// The token.
        token: &'a Secret,
    },
    /// Nothing but who the client is (RFC 6749 §4.4).
    ClientCredentials,
}

/// A request for a token.
#[derive(Clone, Copy)]
pub(crate) struct TokenRequest<'a> {
    /// Where tokens are given.
    pub(crate) endpoint: &'a Url,
    /// What it is asked for with.
    pub(crate) grant: TokenGrant<'a>,
    /// Who asks.
    pub(crate) proof: Proof<'a>,
    /// What it will be for (RFC 8707).
    pub(crate) resource: &'a str,
    /// What it is to allow, or did so far: that is what it allows unless the answer differs.
    pub(crate) scopes: &'a [String],
}

/// Why there is no token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoToken {
    /// Why.
    pub(crate) error: OAuthError,
    /// What came in place of the refresh token, which is of no use any longer.
    pub(crate) refresh_token: Option<Secret>,
}

impl From<OAuthError> for NoToken {
    fn from(error: OAuthError) -> Self {
        Self {
            error,
            refresh_token: None,
        }
    }
}

impl From<NoToken> for OAuthError {
    fn from(nothing: NoToken) -> Self {
        nothing.error
    }
}

/// What was granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenAnswer {
    /// The token for the server.
    pub(crate) access_token: Secret,
    /// The token for a new one, if there is one.
    pub(crate) refresh_token: Option<Secret>,
    /// How many seconds the token for the server lives, where that is known.
    pub(crate) lifetime: Option<u64>,
    /// What it allows.
    pub(crate) scopes: Vec<String>,
}

impl TokenRequest<'_> {
    /// Asks.
    pub(crate) async fn send(&self, asking: &Asking) -> Result<TokenAnswer, NoToken> {
        let form = self.form()?;
        let answer = asking.post_form(self.endpoint, &form).await?;
        let status = answer.status();
        if !status.is_success() {
            return Err(self.refused(&Refusal::read(&answer, &form)).into());
        }
        let place = shown(self.endpoint);
        let fields = Fields::read(&answer);
        drop(answer);
        // Somebody in between has answered, with a page for people: that does not last.
        let fields = fields.ok_or_else(|| {
            OAuthError::passing(format!(
                "{place} gives no usable token: its answer is not a JSON object"
            ))
        })?;
        if fields.error.is_some() {
            // Some say with the status that all is well, and with the body that it is not.
            let refusal = Refusal::new(StatusCode::OK, fields.error, fields.description, &form);
            return Err(self.refused(&refusal).into());
        }
        match usable(fields.access_token, fields.token_type.as_deref()) {
            Ok(access_token) => Ok(TokenAnswer {
                access_token,
                refresh_token: fields.refresh_token,
                lifetime: fields.lifetime,
                // RFC 6749 §5.1: absent where it is what was asked for.
                scopes: fields.scopes.unwrap_or_else(|| self.scopes.to_vec()),
            }),
            Err(reason) => Err(NoToken {
                error: OAuthError::lasting(format!("{place} gives no usable token: {reason}")),
                refresh_token: fields.refresh_token,
            }),
        }
    }

    fn form(&self) -> Result<Form, OAuthError> {
        let mut form = Form::default();
        match self.grant {
            TokenGrant::Code {
                code,
                verifier,
                redirect_uri,
            } => {
                form.plain("grant_type", "authorization_code")
                    .hidden("code", code)
                    .hidden("code_verifier", verifier)
                    .plain("redirect_uri", redirect_uri);
            }
            TokenGrant::Refresh { token } => {
                // Without `scope`: what was granted before is what is wanted (RFC 6749 §6).
                form.plain("grant_type", "refresh_token")
                    .hidden("refresh_token", token);
            }
            TokenGrant::ClientCredentials => {
                form.plain("grant_type", "client_credentials");
                if !self.scopes.is_empty() {
                    form.plain("scope", self.scopes.join(" "));
                }
            }
        }
        form.plain("resource", self.resource);
        self.proof.add_to(&mut form)?;
        Ok(form)
    }

    /// What it means that there is no token.
    fn refused(&self, refusal: &Refusal) -> OAuthError {
        let place = shown(self.endpoint);
        let reason = format!("{place} gives no token: {}", refusal.words());
        if refusal.is_passing() {
            return OAuthError::passing(reason);
        }
        match refusal.code.as_deref() {
            // The first is RFC 6749's, the next are OpenID Connect's, the others are of GitHub and
            // Slack.
            Some(
                "invalid_grant"
                | "interaction_required"
                | "login_required"
                | "consent_required"
                | "bad_refresh_token"
                | "bad_verification_code"
                | "invalid_refresh_token",
            ) => OAuthError::login_needed(reason),
            Some("invalid_client" | "unauthorized_client" | "incorrect_client_credentials") => {
                unknown_client(reason, self.proof.client.registration)
            }
            Some("invalid_scope") => {
                OAuthError::lasting(reason).hint("set the scopes to ask for as `auth.scopes`")
            }
            _ => OAuthError::lasting(reason),
        }
    }
}

/// A token, if it can be used.
fn usable(token: Option<Secret>, kind: Option<&str>) -> Result<Secret, String> {
    // RFC 6749 §7.1: a token of a type that is not understood must not be used.
    if let Some(kind) = kind
        && !kind.eq_ignore_ascii_case("bearer")
    {
        let kind = quoted(kind);
        return Err(format!("it is of the type `{kind}`, not `Bearer`"));
    }
    let token = token.ok_or("there is none in the answer")?;
    if token.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(token)
    } else {
        Err("it has characters that can't be sent".to_owned())
    }
}

/// What it means that an authorization server does not know a client, or not for this.
pub(crate) fn unknown_client(reason: String, registration: Registration) -> OAuthError {
    match registration {
        Registration::Dynamic => OAuthError::client_unknown(reason),
        Registration::Configured => OAuthError::lasting(reason)
            .hint("check `auth.clientId` and the secret or key that belongs to it"),
        Registration::MetadataDocument => {
            OAuthError::lasting(reason).hint("check the document at `auth.clientMetadataUrl`")
        }
    }
}

#[cfg(test)]
mod tests;
