//! Clients that register themselves (RFC 7591).

use bytes::Bytes;
use http::Response;
use openclaw_secrets::Secret;
use serde_json::{Map, Value as Json, json};
use url::Url;

use super::{BY_HAND, NAME};
use crate::asking::{Asking, Form, Refusal, shown};
use crate::authentication::with_secret;
use crate::client::{Authentication, Client, Registration};
use crate::discovery::ServerMetadata;
use crate::error::{OAuthError, quoted};

/// How long the identifier of a client may be: it stands in addresses.
const LONGEST_IDENTIFIER: usize = 2048;

/// What is wanted of a registration.
pub(super) struct Wanted<'a> {
    pub(super) server: &'a ServerMetadata,
    pub(super) redirect_uri: &'a str,
    pub(super) scopes: &'a [String],
}

impl Wanted<'_> {
    /// Registers a client.
    pub(super) async fn register(
        &self,
        asking: &Asking,
        endpoint: &Url,
    ) -> Result<Client, OAuthError> {
        let answer = asking.post_json(endpoint, &self.request()).await?;
        if !matches!(answer.status().as_u16(), 200 | 201) {
            let refusal = Refusal::read(&answer, &Form::default());
            let place = shown(endpoint);
            let reason = format!("{place} does not register OpenClaw: {}", refusal.words());
            return Err(if refusal.is_passing() {
                OAuthError::passing(reason)
            } else {
                OAuthError::lasting(reason).hint(BY_HAND)
            });
        }
        self.read(answer, endpoint)
    }

    fn request(&self) -> Json {
        let takes_refreshing = |all: &Vec<String>| all.iter().any(|it| it == "refresh_token");
        let mut grants = vec!["authorization_code"];
        if self
            .server
            .grant_types
            .as_ref()
            .is_none_or(takes_refreshing)
        {
            grants.push("refresh_token");
        }
        let mut request = json!({
            "client_name": NAME,
            "redirect_uris": [self.redirect_uri],
            "grant_types": grants,
            "response_types": ["code"],
            "token_endpoint_auth_method": self.method(),
            "application_type": "native",
            "software_id": "openclaw",
            "software_version": env!("CARGO_PKG_VERSION"),
        });
        if !self.scopes.is_empty() {
            request["scope"] = json!(self.scopes.join(" "));
        }
        request
    }

    /// How the client wants to prove its identity: not at all, unless it has to.
    fn method(&self) -> &'static str {
        let methods = self.server.authentication_methods.as_deref();
        let offers = |method: &str| methods.is_some_and(|all| all.iter().any(|it| it == method));
        // OAuth 2.1 §2.4.1: whoever takes secrets takes them in the body. Servers that are made with
        // MCP's Python SDK look nowhere else where tokens are given back.
        if !offers("none") && offers("client_secret_post") {
            "client_secret_post"
        } else if !offers("none") && offers("client_secret_basic") {
            "client_secret_basic"
        } else {
            "none"
        }
    }

    fn read(&self, answer: Response<Bytes>, endpoint: &Url) -> Result<Client, OAuthError> {
        let place = shown(endpoint);
        let unusable = |reason: &str| {
            OAuthError::lasting(format!("{place} does not register OpenClaw: {reason}"))
                .hint(BY_HAND)
        };
        let Ok(Json::Object(mut document)) = serde_json::from_slice(answer.body()) else {
            return Err(unusable("its answer is not a JSON object"));
        };
        drop(answer);
        let secret = take_text(&mut document, "client_secret").map(Secret::new);
        // It is not used, and overwritten at once.
        drop(take_text(&mut document, "registration_access_token").map(Secret::new));
        let id = take_text(&mut document, "client_id");
        let id = id.ok_or_else(|| unusable("its answer names no client"))?;
        if id.len() > LONGEST_IDENTIFIER || id.contains(char::is_control) {
            return Err(unusable(
                "its answer names a client with an impossible identifier",
            ));
        }
        let methods = self.server.authentication_methods.as_deref();
        let authentication = match take_text(&mut document, "token_endpoint_auth_method") {
            // RFC 7591 §3.2.1: what was registered counts, not what was asked for.
            Some(method) => match method.as_str() {
                "none" => Authentication::None,
                "client_secret_basic" => Authentication::ClientSecretBasic,
                "client_secret_post" => Authentication::ClientSecretPost,
                other => {
                    let other = quoted(other);
                    return Err(unusable(&format!(
                        "it wants clients to prove their identity with `{other}`"
                    )));
                }
            },
            None if takes_secrets(methods) => with_secret(methods),
            None => Authentication::None,
        };
        // Without a secret there is nothing to prove.
        let (authentication, secret) = match (authentication, secret) {
            (Authentication::None, _) | (_, None) => (Authentication::None, None),
            (authentication, secret) => (authentication, secret),
        };
        let expires = document.get("client_secret_expires_at").and_then(whole);
        Ok(Client {
            id,
            registration: Registration::Dynamic,
            authentication,
            // RFC 7591 §3.2.1: 0 is never.
            secret_expires_at: expires.filter(|at| *at > 0 && secret.is_some()),
            secret,
        })
    }
}

/// Whether an authorization server takes a secret in any way that is known here.
fn takes_secrets(methods: Option<&[String]>) -> bool {
    let is_known = |method: &String| {
        matches!(
            method.as_str(),
            "client_secret_basic" | "client_secret_post"
        )
    };
    methods.is_none_or(|all| all.iter().any(is_known))
}

/// A text that is there and not empty.
fn take_text(document: &mut Map<String, Json>, name: &str) -> Option<String> {
    match document.remove(name) {
        Some(Json::String(text)) => (!text.is_empty()).then_some(text),
        _ => None,
    }
}

/// A number that is whole and not below 0, be it written as a text.
fn whole(json: &Json) -> Option<u64> {
    match json {
        Json::String(text) => text.trim().parse().ok(),
        json => json.as_u64(),
    }
}
