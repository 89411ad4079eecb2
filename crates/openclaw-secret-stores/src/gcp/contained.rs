//! The library that makes access tokens of credentials, and what keeps it in its place.
//!
//! It starts a task of its own for each credentials object, which renews the token for as long as
//! the object lives, whether anybody needs it or not, and it panics on some answers. So it gets a
//! runtime of its own, which runs only while somebody waits for a token and ends with the object.

use std::error::Error;
use std::sync::Arc;

use google_cloud_auth::build_errors::Error as BuildError;
use google_cloud_auth::credentials::service_account::AccessSpecifier;
use google_cloud_auth::credentials::{
    AccessTokenCredentials, external_account, impersonated, service_account, user_account,
};
use google_cloud_auth::errors::CredentialsError;
use openclaw_secrets::Secret;
use serde_json::Value as Json;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use super::file::{Identity, Kind};
use crate::http::use_ring;

/// What tokens are good for: what is allowed to whom is said elsewhere.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

/// Credentials that tokens are made of.
pub(super) struct Contained {
    credentials: AccessTokenCredentials,
    runtime: Option<Runtime>,
}

/// Why there is no token.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// It may be different the next time.
    Passing(String),
    /// The credentials are not accepted, with the word of the protocol for it.
    Refused(Option<String>),
    /// The credentials can't be used.
    Unusable,
    /// No connection can be made that others can't listen to.
    NoTls(String),
}

impl Contained {
    /// Takes over credentials. Nothing is asked for yet.
    pub(super) fn new(identity: &Identity) -> Result<Self, Failure> {
        use_ring();
        if identity.kind != Kind::ServiceAccount {
            // A machine without authorities is one more thing that the library panics on. The
            // tokens of service accounts are made without asking anybody.
            let client = reqwest::Client::builder().build();
            client.map_err(|error| Failure::NoTls(innermost(&error)))?;
        }
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::Passing(error.to_string()))?;
        let credentials = {
            let _here = runtime.enter();
            build(identity.kind, identity.json.clone())
        };
        // Not even its words are used: they may quote the file.
        match credentials {
            Ok(credentials) => Ok(Self {
                credentials,
                runtime: Some(runtime),
            }),
            Err(_) => {
                runtime.shutdown_background();
                Err(Failure::Unusable)
            }
        }
    }

    /// A token that is good now: the one that is there, or a new one.
    pub(super) async fn token(self: &Arc<Self>) -> Result<Secret, Failure> {
        let this = Arc::clone(self);
        // It is dropped with this future, and ends the waiting.
        let (_waiting, given_up) = oneshot::channel::<()>();
        let asking = tokio::task::spawn_blocking(move || this.ask(given_up));
        match asking.await {
            Ok(Some(Ok(token))) => Ok(Secret::new(token.token)),
            Ok(Some(Err(error))) => Err(failure(&error)),
            Ok(None) => Err(Failure::Passing("it was given up".to_owned())),
            // The library panicked.
            Err(_) => Err(Failure::Unusable),
        }
    }

    fn ask(
        &self,
        given_up: oneshot::Receiver<()>,
    ) -> Option<Result<google_cloud_auth::credentials::AccessToken, CredentialsError>> {
        let runtime = self.runtime.as_ref()?;
        runtime.block_on(async {
            tokio::select! {
                _ = given_up => None,
                token = self.credentials.access_token() => Some(token),
            }
        })
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        // Waiting for it is not allowed where we may be, and there is nothing to wait for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn build(kind: Kind, json: Json) -> Result<AccessTokenCredentials, BuildError> {
    match kind {
        Kind::ServiceAccount => service_account::Builder::new(json)
            .with_access_specifier(AccessSpecifier::from_scopes([SCOPE]))
            .build_access_token_credentials(),
        // A user has agreed to some scopes, and asking for others is an error.
        Kind::AuthorizedUser => user_account::Builder::new(json).build_access_token_credentials(),
        Kind::ExternalAccount => external_account::Builder::new(json)
            .with_scopes([SCOPE])
            .build_access_token_credentials(),
        Kind::Impersonated => impersonated::Builder::new(json)
            .with_scopes([SCOPE])
            .build_access_token_credentials(),
    }
}

/// The reason behind all others.
fn innermost(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => innermost(source),
        None => error.to_string(),
    }
}

fn failure(error: &CredentialsError) -> Failure {
    let mut chain: Vec<&dyn Error> = Vec::new();
    let mut next: Option<&dyn Error> = Some(error);
    while let Some(error) = next {
        chain.push(error);
        next = error.source();
    }
    let status = chain.iter().find_map(|error| {
        let error = error.downcast_ref::<reqwest::Error>()?;
        error.status()
    });
    if error.is_transient() {
        return Failure::Passing(match status {
            Some(status) => format!("status {}", status.as_u16()),
            None => innermost(error),
        });
    }
    let word = chain.iter().find_map(|error| word_in(&error.to_string()));
    if status.is_some() || word.is_some() {
        return Failure::Refused(word);
    }
    Failure::Unusable
}

/// The word for what is wrong in an answer that stands somewhere in a text: that of OAuth
/// (RFC 6749 §5.2), or the name of Google's status.
fn word_in(text: &str) -> Option<String> {
    let (from, to) = (text.find('{')?, text.rfind('}')?);
    let json: Json = serde_json::from_str(text.get(from..=to)?).ok()?;
    let error = &json["error"];
    let word = error.as_str().or_else(|| error["status"].as_str())?;
    let allowed = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let is_word = (1..=60).contains(&word.len()) && word.bytes().all(allowed);
    is_word.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_protocol_are_found_in_what_the_library_says() {
        for (text, word) in [
            (
                r#"failed, body=<{"error": "invalid_grant", "error_description": "x"}> and"#,
                Some("invalid_grant"),
            ),
            (
                r#"[403] {"error": {"code": 403, "status": "PERMISSION_DENIED"}}"#,
                Some("PERMISSION_DENIED"),
            ),
            (r#"body=<{"error": "the token hunter2 is bad"}>"#, None),
            (r#"body=<{"access_token": "hunter2"}>"#, None),
            ("} nothing {", None),
            ("", None),
        ] {
            assert_eq!(word_in(text).as_deref(), word, "{text}");
        }
    }
}
