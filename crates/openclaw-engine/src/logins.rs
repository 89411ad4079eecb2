//! Logins to servers, without the tokens.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Asks for a login to be begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginRequest {
    /// The agent; the default one if none is named.
    pub agent: Option<String>,
    /// The server.
    pub server: String,
    /// Whether it is fine if the browser can't arrive by itself, since a person can bring what it
    /// was sent to.
    pub by_hand: bool,
}

/// How we are known to an authorization server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RegistrationKind {
    /// The configuration names the client.
    Configured,
    /// By the address of a document about us.
    MetadataDocument,
    /// We registered ourselves.
    Dynamic,
}

/// A login that was begun. Whoever has the address can go on with it, so it is for the person alone.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginOffer {
    /// The server.
    pub server: String,
    /// The name of this login, to wait for it.
    pub login: String,
    /// The address to open in a browser.
    pub url: String,
    /// Who is asked.
    pub issuer: String,
    /// How that came to be known, in words.
    pub found: String,
    /// How we are known there.
    pub registration: RegistrationKind,
    /// As whom.
    pub client_id: String,
    /// Why in this way, in words.
    pub why: String,
    /// What is asked for.
    pub scopes: Vec<String>,
    /// Where the browser is sent to.
    pub redirect_url: String,
    /// Whether it can arrive there by itself.
    pub listening: bool,
    /// When it is too late.
    pub ends_at: String,
    /// What a person should know of where the token will be kept.
    pub remarks: Vec<String>,
}

impl fmt::Debug for LoginOffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LoginOffer")
            .field("server", &self.server)
            .field("login", &self.login)
            .finish_non_exhaustive()
    }
}

/// Names a login that was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OneLogin {
    /// Its name.
    pub login: String,
}

/// What a browser was sent to after a login: a code, or the whole address.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginAnswer {
    /// The agent; the default one if none is named.
    pub agent: Option<String>,
    /// The server.
    pub server: String,
    /// What was brought.
    pub answer: String,
}

impl fmt::Debug for LoginAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LoginAnswer")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

/// Asks for the document that describes us to authorization servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientMetadataQuery {
    /// The agent; the default one if none is named.
    pub agent: Option<String>,
    /// The server whose settings it is for; the usual ones if none is named.
    pub server: Option<String>,
    /// Where it will be; where the server's settings say if nothing else is said.
    pub url: Option<String>,
}

/// The document that describes us to authorization servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientMetadata {
    /// The document.
    pub document: serde_json::Value,
}

/// A login that succeeded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginReport {
    /// The server.
    pub server: String,
    /// Who issued it.
    pub issuer: String,
    /// What it allows.
    pub scopes: Vec<String>,
    /// When its token expires.
    pub token_expires_at: Option<String>,
    /// Whether the token is renewed without a person.
    pub renewable: bool,
}

/// Asks about the logins that are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginsQuery {
    /// The agent; the default one if none is named.
    pub agent: Option<String>,
    /// That to this server; all if none is named.
    pub server: Option<String>,
}

/// The logins that are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginsReport {
    /// The logins, in the order of the servers' names.
    pub logins: Vec<KeptLogin>,
    /// What a person should know of how they are kept.
    pub remarks: Vec<String>,
}

/// A login that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptLogin {
    /// The server.
    pub server: String,
    /// Who issued it, where it can be looked at.
    pub issuer: Option<String>,
    /// When its token expires.
    pub token_expires_at: Option<String>,
    /// Whether the token is renewed without a person.
    pub renewable: bool,
    /// Why it is of no use, if it is not.
    pub problem: Option<String>,
    /// What to do about that, where it is known.
    pub hint: Option<String>,
}

/// A login that was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogoutReport {
    /// The server.
    pub server: String,
    /// Whether there was a login.
    pub was_logged_in: bool,
    /// Whether the authorization server withdrew it; none if it offers no way to.
    pub revoked: Option<bool>,
    /// Why it did not, if it did not.
    pub reason: Option<String>,
}
