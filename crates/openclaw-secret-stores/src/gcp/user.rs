//! The login of a person.

use openclaw_secrets::Secret;

use super::asking::{Asking, Trouble};
use super::document::Part;
use super::service_account::TOKEN_ADDRESS;
use super::token::Token;
use crate::error::SecretError;

/// What `gcloud auth application-default login` writes.
pub(super) struct User {
    client_id: String,
    client_secret: Secret,
    refresh_token: Secret,
    token_address: String,
}

impl User {
    pub(super) fn new(part: Part<'_>) -> Result<Self, SecretError> {
        Ok(Self {
            client_id: part.needed("client_id")?.to_owned(),
            client_secret: part.secret("client_secret")?,
            refresh_token: part.secret("refresh_token")?,
            token_address: part.address_or("token_uri", TOKEN_ADDRESS)?,
        })
    }

    /// A token that is good now (RFC 6749 §6).
    pub(super) async fn token(&self, asking: &Asking<'_>) -> Result<Token, Trouble> {
        // A person has agreed to some scopes, and asking for others is an error.
        let fields = [
            ("grant_type", "refresh_token"),
            ("client_id", &self.client_id),
            ("client_secret", self.client_secret.expose()),
            ("refresh_token", self.refresh_token.expose()),
        ];
        asking.grant(&self.token_address, &fields, None).await
    }
}
