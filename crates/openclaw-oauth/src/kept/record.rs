//! What is kept about the logins to one server.

use openclaw_secrets::Secret;
use serde::{Deserialize, Serialize};
use url::Url;

use super::secret_text;
use crate::client::Client;

/// How many logins may be under way at once; the oldest gives way.
const MOST_PENDING: usize = 8;
/// How many clients that registered themselves are remembered; the oldest gives way.
const MOST_CLIENTS: usize = 8;

/// The login that a token of the client itself comes from: none of a person's has this name.
pub(crate) const OWN_ACCOUNT: &str = "client-credentials";

/// Everything that is kept about the logins to one server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KeptLogins {
    /// What was granted, if anything was.
    pub grant: Option<KeptGrant>,
    /// Logins that were begun and not ended, the newest at the end.
    pub pending: Vec<PendingLogin>,
    /// Clients that registered themselves, the newest at the end.
    pub clients: Vec<KeptClient>,
    /// Scopes that the server asked for beyond those that were granted.
    pub wanted_scopes: Vec<String>,
    /// Whom the secret of the configured client was first shown to.
    pub confidant: Option<Confidant>,
}

/// An authorization server that was shown the secret of a configured client. Whoever runs the server
/// says who grants tokens for it, and must not be able to have the secret sent to somebody else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Confidant {
    /// The client.
    pub client: String,
    /// Who was shown its secret.
    pub issuer: String,
}

/// What an authorization server granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptGrant {
    /// The login that it came from.
    pub login: String,
    /// Who issued it, as its metadata say.
    pub issuer: String,
    /// Whom it was granted to.
    pub client: Client,
    /// What it is for (RFC 8707).
    pub resource: String,
    /// What it allows.
    pub scopes: Vec<String>,
    /// Where it is renewed.
    pub token_endpoint: Url,
    /// Where it is given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint: Option<Url>,
    /// What the client may sign with there, as far as that is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signing_algorithms: Vec<String>,
    /// The token for the server.
    #[serde(with = "secret_text")]
    pub access_token: Secret,
    /// The token for a new one.
    #[serde(
        default,
        with = "secret_text::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub refresh_token: Option<Secret>,
    /// When the access token came, in milliseconds since 1970.
    pub received_at: u64,
    /// How long it lives from then on, in seconds, where the authorization server says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<u64>,
    /// Why it can't be renewed, once an authorization server has said so for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
}

/// A login that was begun: what is needed to end it, in whatever process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingLogin {
    /// Its name among the logins to this server; no secret.
    pub login: String,
    /// What the browser must bring back.
    #[serde(with = "secret_text")]
    pub state: Secret,
    /// What proves that we began it (RFC 7636).
    #[serde(with = "secret_text")]
    pub verifier: Secret,
    /// When it was begun, in milliseconds since 1970.
    pub begun_at: u64,
    /// Who is asked, as its metadata say.
    pub issuer: String,
    /// Whether the answer must name the issuer (RFC 9207).
    pub issuer_promised: bool,
    /// Who asks.
    pub client: Client,
    /// What it is for (RFC 8707).
    pub resource: String,
    /// What was asked for.
    pub scopes: Vec<String>,
    /// Where the browser is sent to.
    pub redirect_uri: String,
    /// Where the code is exchanged.
    pub token_endpoint: Url,
    /// What the client may sign with there, as far as that is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signing_algorithms: Vec<String>,
    /// Where what is granted can be given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint: Option<Url>,
}

/// A client that registered itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptClient {
    /// Where; it means nothing to anybody else.
    pub issuer: String,
    /// The address that it may send browsers to.
    pub redirect_uri: String,
    /// The client.
    pub client: Client,
    /// What it said that it would ask for. There are authorization servers that let it ask for nothing
    /// else.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Whether the last login as this client did not end. The authorization server may have forgotten
    /// it, and tells that only to the browser.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_doubtful: bool,
}

impl KeptGrant {
    /// Whether the client itself was granted it, and no person was asked.
    pub(crate) fn is_own_account(&self) -> bool {
        self.login == OWN_ACCOUNT
    }
}

impl KeptLogins {
    /// What was granted or is missing: what a new login must not fall behind.
    pub(crate) fn asked_for(&self, issuer: &str) -> Vec<String> {
        // What another authorization server granted may mean nothing to this one.
        let grant = self.grant.iter().filter(|grant| grant.issuer == issuer);
        let granted = grant.flat_map(|grant| &grant.scopes);
        granted.chain(&self.wanted_scopes).cloned().collect()
    }

    /// Notes that a login was begun.
    pub fn begin(&mut self, login: PendingLogin) {
        self.doubt(&login.client.id, true);
        self.pending.push(login);
        let surplus = self.pending.len().saturating_sub(MOST_PENDING);
        self.pending.drain(..surplus);
    }

    /// Notes whether a client may be unknown to its authorization server by now.
    pub fn doubt(&mut self, client: &str, is_doubtful: bool) {
        for kept in &mut self.clients {
            if kept.client.id == client {
                kept.is_doubtful = is_doubtful;
            }
        }
    }

    /// Notes a client that registered itself, in place of the one that did so before for the same
    /// purpose.
    pub fn remember(&mut self, kept: KeptClient) {
        self.clients
            .retain(|it| it.issuer != kept.issuer || it.redirect_uri != kept.redirect_uri);
        self.clients.push(kept);
        let surplus = self.clients.len().saturating_sub(MOST_CLIENTS);
        self.clients.drain(..surplus);
    }
}
