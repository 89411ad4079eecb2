//! What a browser, or a person, brings back from a login.

mod reading;

use openclaw_secrets::Secret;
use secrecy::zeroize::Zeroizing;

use crate::error::{OAuthError, quoted};
use crate::kept::PendingLogin;
use crate::token::unknown_client;

/// How long a login may take, in milliseconds.
pub(crate) const LONGEST_LOGIN: u64 = 10 * 60 * 1000;

/// What was brought back from a login (RFC 6749 §4.1.2).
///
/// Whose login it is, and whether all is well, is known once it is [checked](Callback::check).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Callback {
    brought: Brought,
    state: Option<Secret>,
    issuer: Option<String>,
    extent: Extent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Brought {
    Code(Secret),
    Refusal {
        code: String,
        description: Option<String>,
    },
}

impl PendingLogin {
    /// Whether it is too late to end it.
    pub(crate) fn is_over(&self, now: u64) -> bool {
        now.saturating_sub(self.begun_at) > LONGEST_LOGIN
    }
}

/// How much of an answer there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// All that the authorization server said.
    Whole,
    /// What a person copied of it.
    Part,
}

impl Callback {
    /// Reads what a person brings: a code, a code and a state as `code#state`, the address that the
    /// browser was sent to, or what stands behind `?` in it. Blanks and quotes around it, and line
    /// breaks in it, do not matter.
    pub(crate) fn read(text: &str) -> Result<Self, OAuthError> {
        reading::read(text)
    }

    /// Reads what a browser asked for behind `?`.
    pub(crate) fn read_query(query: &Secret) -> Result<Self, OAuthError> {
        // With the mark, so that one in a value is no beginning.
        reading::read(&Zeroizing::new(format!("?{}", query.expose())))
    }

    /// Whether the authorization server says that it does not know what was asked for.
    pub(crate) fn refuses_scopes(&self) -> bool {
        matches!(&self.brought, Brought::Refusal { code, .. } if code == "invalid_scope")
    }

    /// Whether it says that it belongs to a login. A bare code does not say so.
    pub(crate) fn names(&self, login: &PendingLogin) -> bool {
        self.state.as_ref() == Some(&login.state)
    }

    /// Whether it says that it belongs to the login with this state.
    pub(crate) fn has_this_state(&self, state: &Secret) -> bool {
        self.state.as_ref() == Some(state)
    }

    /// Whether it says to which login it belongs.
    pub(crate) fn has_state(&self) -> bool {
        self.state.is_some()
    }

    /// Checks that it is the answer to a login, and that all is well. Gives the code.
    pub(crate) fn check(&self, login: &PendingLogin, now: u64) -> Result<Secret, OAuthError> {
        self.check_origin(login)?;
        if login.is_over(now) {
            let minutes = LONGEST_LOGIN / 60_000;
            return Err(OAuthError::login_needed(format!(
                "the login was begun more than {minutes} minutes ago"
            )));
        }
        match &self.brought {
            Brought::Code(code) => Ok(code.clone()),
            Brought::Refusal { code, description } => {
                Err(refusal(code, description.as_deref(), login))
            }
        }
    }

    /// Checks that it answers a login, and that who was asked gives the answer. What does not is
    /// anybody's, and must not end the login.
    pub(crate) fn check_origin(&self, login: &PendingLogin) -> Result<(), OAuthError> {
        match (&self.state, self.extent) {
            (Some(_), _) if self.names(login) => {}
            (None, Extent::Part) => {}
            (Some(_), _) => {
                return Err(OAuthError::login_needed(
                    "this is the answer to another login, or to one that is over",
                ));
            }
            (None, Extent::Whole) => {
                return Err(OAuthError::login_needed(
                    "the answer does not say which login it belongs to (`state` is missing)",
                ));
            }
        }
        self.check_issuer(login)
    }

    /// Checks who answers (RFC 9207 §2.4): the very same text, whatever it may mean as an address.
    fn check_issuer(&self, login: &PendingLogin) -> Result<(), OAuthError> {
        match &self.issuer {
            Some(issuer) if *issuer == login.issuer => Ok(()),
            Some(issuer) => {
                let (issuer, expected) = (quoted(issuer), quoted(&login.issuer));
                Err(OAuthError::lasting(format!(
                    "the answer is of `{issuer}`, and `{expected}` was asked: somebody may be \
                     trying to take the login over"
                )))
            }
            None if !login.issuer_promised || matches!(self.brought, Brought::Refusal { .. }) => {
                Ok(())
            }
            None => {
                let expected = quoted(&login.issuer);
                let error = OAuthError::login_needed(format!(
                    "the answer does not say who gives it, and `{expected}` always does (`iss` \
                     is missing)"
                ));
                Err(match self.extent {
                    Extent::Part => error.hint(
                        "bring the whole address that the browser was sent to, not the code alone",
                    ),
                    Extent::Whole => error,
                })
            }
        }
    }
}

/// A refusal in plain words (RFC 6749 §4.1.2.1, OIDC Core §3.1.2.6, RFC 8707 §2).
fn refusal(code: &str, description: Option<&str>, login: &PendingLogin) -> OAuthError {
    let meaning = match code {
        "access_denied" => "the login was refused",
        "invalid_request" => "the authorization server does not understand the login",
        "unauthorized_client" | "invalid_client" => {
            "the authorization server does not let this client log in"
        }
        "unsupported_response_type" => "the authorization server gives no codes",
        "invalid_scope" => "the authorization server does not know what was asked for",
        "invalid_target" => "the authorization server gives no tokens for this server",
        "server_error" => "the authorization server failed",
        "temporarily_unavailable" => "the authorization server is too busy",
        "login_required"
        | "interaction_required"
        | "consent_required"
        | "account_selection_required" => "the login was not finished",
        _ => "the authorization server refuses the login",
    };
    let description = description.map(quoted).filter(|text| !text.is_empty());
    let description = description.map_or_else(String::new, |text| format!(": {text}"));
    let reason = format!("{meaning} (`{}`){description}", quoted(code));
    match code {
        "access_denied"
        | "login_required"
        | "interaction_required"
        | "consent_required"
        | "account_selection_required" => OAuthError::login_needed(reason),
        "server_error" | "temporarily_unavailable" => OAuthError::passing(reason),
        "unauthorized_client" | "invalid_client" => {
            unknown_client(reason, login.client.registration)
        }
        "invalid_scope" => {
            OAuthError::lasting(reason).hint("set the scopes to ask for as `auth.scopes`")
        }
        _ => OAuthError::lasting(reason),
    }
}

#[cfg(test)]
mod tests;
