//! The word of another provider of identities, which is exchanged for a token (workload identity
//! federation, RFC 8693).

mod aws;
mod subject;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::HeaderValue;
use openclaw_secrets::Secret;
use secrecy::zeroize::Zeroizing;
use serde_json::json;

use self::subject::Subject;
use super::asking::{Asking, SCOPE, Trouble};
use super::document::Part;
use super::token::Token;
use crate::error::SecretError;

/// Where such tokens are given if the file does not say so.
const TOKEN_ADDRESS: &str = "https://sts.googleapis.com/v1/token";
/// What exchanges a token (RFC 8693 §2.1).
const GRANT: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
/// What it is exchanged for (RFC 8693 §3).
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

/// An identity of another provider.
pub(super) struct External {
    audience: String,
    subject_type: String,
    subject: Subject,
    token_address: String,
    /// The client that asks, where the provider of identities is for people.
    client: Option<(String, Secret)>,
    /// The project that is charged where there is no such client.
    user_project: Option<String>,
}

impl External {
    pub(super) fn new(part: Part<'_>) -> Result<Self, SecretError> {
        let text = |name: &str| part.text(name).map(str::to_owned);
        // What is not supported is said first.
        let subject = Subject::new(part.part("credential_source"))?;
        Ok(Self {
            audience: part.needed("audience")?.to_owned(),
            subject_type: part.needed("subject_token_type")?.to_owned(),
            subject,
            token_address: part.address_or("token_url", TOKEN_ADDRESS)?,
            client: match text("client_id") {
                Some(id) => Some((id, part.secret("client_secret")?)),
                None => None,
            },
            user_project: text("workforce_pool_user_project"),
        })
    }

    /// A token that is good now.
    pub(super) async fn token(&self, asking: &Asking<'_>) -> Result<Token, Trouble> {
        let subject = self.subject.token(asking, &self.audience).await?;
        let mut fields = vec![
            ("grant_type", GRANT),
            ("audience", &self.audience),
            ("scope", SCOPE),
            ("requested_token_type", ACCESS_TOKEN),
            ("subject_token_type", &self.subject_type),
            ("subject_token", subject.expose()),
        ];
        let options;
        let client = match (&self.client, &self.user_project) {
            (Some((id, secret)), _) => Some(basic(id, secret)),
            (None, Some(project)) => {
                options = json!({ "userProject": project }).to_string();
                fields.push(("options", &options));
                None
            }
            (None, None) => None,
        };
        let client = client.transpose().map_err(|error| {
            let shown = asking.shown;
            let reason = format!("`client_id` in {shown} can't be sent: {error}");
            Trouble::Final(SecretError::misconfigured(reason))
        })?;
        asking.grant(&self.token_address, &fields, client).await
    }
}

/// How a client says who it is (RFC 6749 §2.3.1).
fn basic(id: &str, secret: &Secret) -> Result<HeaderValue, http::header::InvalidHeaderValue> {
    let pair = Zeroizing::new(format!("{id}:{}", secret.expose()));
    let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair.as_bytes())))?;
    value.set_sensitive(true);
    Ok(value)
}
