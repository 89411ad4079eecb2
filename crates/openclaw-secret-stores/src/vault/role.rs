//! Getting a token by `AppRole`.

use std::time::Duration;

use openclaw_secrets::Secret;
use serde_json::{Value as Json, json};
use tokio::time::Instant;

use super::reply::Reply;
use super::server::Server;
use super::token::Token;
use crate::error::SecretError;
use crate::surroundings::Surroundings;

pub(super) const ROLE: &str = "VAULT_ROLE_ID";
pub(super) const SECRET: &str = "VAULT_SECRET_ID";
const MOUNT: &str = "VAULT_APPROLE_MOUNT";

/// The longest that a token of ours is kept, whatever the server says.
const LONGEST: Duration = Duration::from_hours(30 * 24);
/// How long before its end a token is replaced, at most: it should not end on the way.
const MARGIN: Duration = Duration::from_mins(1);

/// Who we are, by `AppRole`.
pub(super) struct Role {
    id: String,
    secret: Secret,
    mount: String,
}

impl Role {
    /// Who the variables say that we are.
    pub(super) fn of(surroundings: &Surroundings) -> Result<Option<Self>, SecretError> {
        let (id, secret) = match (surroundings.variable(ROLE), surroundings.variable(SECRET)) {
            (Some(id), Some(secret)) => (id, secret),
            (None, None) => return Ok(None),
            (Some(_), None) => return Err(half(ROLE, SECRET)),
            (None, Some(_)) => return Err(half(SECRET, ROLE)),
        };
        let mount = surroundings.variable(MOUNT).unwrap_or("approle");
        Ok(Some(Self {
            id: id.trim().to_owned(),
            secret: surroundings.credential(secret.trim()),
            mount: mount.trim().trim_matches('/').to_owned(),
        }))
    }

    /// Logs in: the token, and when it should be replaced.
    pub(super) async fn login(
        &self,
        server: &Server<'_>,
        number: u64,
        until: Instant,
    ) -> Result<(Token, Option<Instant>), SecretError> {
        let path = format!("auth/{}/login", self.mount);
        let body = json!({ "role_id": self.id, "secret_id": self.secret.expose() });
        let begin = Instant::now();
        let document = match server.post(&path, &body, until).await? {
            Reply::Document(document) => document,
            Reply::Denied { .. } => return Err(self.refused("")),
            Reply::Bad(why) => return Err(self.refused(&why)),
            Reply::Missing(_) => {
                let reason = format!("{} has no login at `auth/{}`", server.shown(), self.mount);
                let hint = format!("set `{MOUNT}` to where AppRole is enabled");
                return Err(SecretError::misconfigured(reason).hint(hint));
            }
        };
        let text = document
            .pointer("/auth/client_token")
            .and_then(Json::as_str);
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            let reason = format!("the login at `auth/{}` gives no token", self.mount);
            return Err(SecretError::unusable(reason));
        };
        let token = Token::of_login(server.surroundings, text, number)?;
        let lease = document.pointer("/auth/lease_duration");
        let lease = Duration::from_secs(lease.and_then(Json::as_u64).unwrap_or(0)).min(LONGEST);
        // Without a lease it does not end.
        let ends = (!lease.is_zero()).then(|| begin + lease - MARGIN.min(lease / 10));
        Ok((token, ends))
    }

    fn refused(&self, why: &str) -> SecretError {
        let colon = if why.is_empty() { "" } else { ": " };
        let reason = format!("the login at `auth/{}` is refused{colon}{why}", self.mount);
        SecretError::refused(reason).hint(format!(
            "check `{ROLE}` and `{SECRET}`: a secret id may have ended or been used up"
        ))
    }
}

fn half(given: &str, missing: &str) -> SecretError {
    SecretError::misconfigured(format!("`{given}` is set without `{missing}`"))
}
