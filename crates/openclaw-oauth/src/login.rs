//! Logging in with a browser: from a server that asks who we are to a token that is kept.

mod begin;
mod finish;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;
mod wait;

use std::sync::Arc;
use std::time::Duration;

use openclaw_secrets::{Redactor, Secret};
use url::Url;

use crate::callback::LONGEST_LOGIN;
use crate::client::Registration;
use crate::clock::Clock;
use crate::kept::{KeptGrant, LoginStore, Remark, ServerLogins};
use crate::listener::CallbackListener;
use crate::resource::{KeysSource, Resource};

pub use begin::Arrival;

/// How long a person has for a login.
pub const LOGIN_PATIENCE: Duration = Duration::from_millis(LONGEST_LOGIN);
/// How long another process may take that does something with the same login.
const LOCK_PATIENCE: Duration = Duration::from_secs(45);

/// Where one logs in to a server.
#[derive(Clone)]
pub struct LoginDesk {
    resource: Resource,
    store: LoginStore,
    logins: ServerLogins,
    keys: Arc<dyn KeysSource>,
    redactor: Redactor,
    clock: Clock,
}

/// A login that was begun: what a person has to know.
#[derive(Clone, Debug)]
pub struct Begun {
    /// Its name among the logins to this server.
    pub login: String,
    /// The address to open in a browser.
    pub url: Url,
    /// Who is asked.
    pub issuer: String,
    /// How the issuer came to be asked, in words.
    pub found: String,
    /// How we are known there.
    pub registration: Registration,
    /// As whom.
    pub client_id: String,
    /// Why in this way, in words.
    pub why: String,
    /// What is asked for.
    pub scopes: Vec<String>,
    /// Where the browser is sent to.
    pub redirect_uri: String,
    /// When it is too late, in milliseconds since 1970.
    pub ends_at: u64,
    /// What a person should know of where the token will be kept.
    pub remarks: Vec<Remark>,
}

/// A login that is waited for here.
pub struct RunningLogin {
    desk: LoginDesk,
    begun: Begun,
    /// What the browser must bring back.
    state: Secret,
    /// Where the browser arrives, if it can arrive here.
    listener: Option<CallbackListener>,
}

/// A login that succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedIn {
    /// Who issued it.
    pub issuer: String,
    /// What it allows.
    pub scopes: Vec<String>,
    /// When the access token expires, in milliseconds since 1970.
    pub expires_at: Option<u64>,
    /// Whether it can be renewed without a person.
    pub is_renewable: bool,
}

/// What became of a login that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedOut {
    /// Whether there was one.
    pub was_logged_in: bool,
    /// What became of it at the authorization server.
    pub revocation: Revoked,
}

/// What became of a login at the authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revoked {
    /// It was withdrawn.
    Done,
    /// The authorization server offers no way to withdraw it.
    NotOffered,
    /// It was not withdrawn, for this reason.
    Failed(String),
}

impl LoginDesk {
    /// What the logins are about.
    pub fn resource(&self) -> &Resource {
        &self.resource
    }

    /// A desk for one server.
    pub fn new(
        resource: Resource,
        store: &LoginStore,
        keys: Arc<dyn KeysSource>,
        redactor: Redactor,
        clock: Clock,
    ) -> Self {
        Self {
            logins: store.of(&resource.server, &resource.url),
            resource,
            store: store.clone(),
            keys,
            redactor,
            clock,
        }
    }
}

impl From<&KeptGrant> for LoggedIn {
    fn from(grant: &KeptGrant) -> Self {
        Self {
            issuer: grant.issuer.clone(),
            scopes: grant.scopes.clone(),
            expires_at: grant.expires_at(),
            is_renewable: grant.refresh_token.is_some(),
        }
    }
}
