//! Which client an authorization server is told that we are.

mod document;
mod dynamic;

use url::Url;

use crate::asking::{Asking, shown};
use crate::authentication;
use crate::client::{Authentication, Client, Registration};
use crate::discovery::Discovered;
use crate::error::{OAuthError, quoted};
use crate::kept::KeptClient;
use crate::resource::{ConfiguredKeys, Grant, Resource};
use dynamic::Wanted;

pub use document::metadata_document;

/// How we are called.
const NAME: &str = "OpenClaw";
/// How many seconds the secret of a client has to be good for: a login takes its time.
const LOGIN: u64 = 15 * 60;
/// What to do where no client can be had by itself.
const BY_HAND: &str = "register a client by hand and set `auth.clientId`";

/// The client that was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChosenClient {
    /// The client.
    pub(crate) client: Client,
    /// Why this one, in one sentence for people.
    pub(crate) why: String,
    /// Whether it registered itself just now, and has to be remembered.
    pub(crate) is_new: bool,
}

/// What a client is chosen by.
#[derive(Clone, Copy)]
pub(crate) struct Choosing<'a> {
    /// What the configuration says.
    pub(crate) resource: &'a Resource,
    /// What the configured client proves its identity with.
    pub(crate) keys: &'a ConfiguredKeys,
    /// The authorization server.
    pub(crate) discovered: &'a Discovered,
    /// The clients that registered themselves before, the newest at the end.
    pub(crate) kept: &'a [KeptClient],
    /// Where browsers will be sent to.
    pub(crate) redirect_uri: &'a str,
    /// What will be asked for.
    pub(crate) scopes: &'a [String],
    /// The time in milliseconds since 1970.
    pub(crate) now: u64,
}

impl Choosing<'_> {
    /// Chooses a client: that of the configuration, else the one that a document describes, else
    /// one that registered itself before, else one that does so now.
    pub(crate) async fn client(&self, asking: &Asking) -> Result<ChosenClient, OAuthError> {
        if let Some(id) = &self.resource.client_id {
            return Ok(self.configured(id));
        }
        if self.resource.grant == Grant::ClientCredentials {
            let reason = "only a client that was registered by hand can log in by itself";
            return Err(OAuthError::lasting(reason).hint(BY_HAND));
        }
        let server = &self.discovered.server;
        if let Some(url) = &self.resource.client_metadata_url
            && server.takes_metadata_documents
        {
            return Ok(described(url));
        }
        if let Some(kept) = self.registered_before() {
            return Ok(ChosenClient {
                why: format!(
                    "OpenClaw registered itself there before as `{}`",
                    quoted(&kept.id)
                ),
                client: kept.clone(),
                is_new: false,
            });
        }
        self.register(asking).await
    }

    fn configured(&self, id: &str) -> ChosenClient {
        let methods = self.discovered.server.authentication_methods.as_deref();
        ChosenClient {
            client: Client {
                id: id.to_owned(),
                registration: Registration::Configured,
                authentication: authentication::of_configured(self.keys, methods),
                secret: None,
                secret_expires_at: None,
            },
            why: format!("the configuration names the client `{}`", quoted(id)),
            is_new: false,
        }
    }

    fn registered_before(&self) -> Option<&Client> {
        let seconds = self.now / 1000;
        let fits = |kept: &&KeptClient| {
            let expires = kept.client.secret_expires_at;
            !kept.is_doubtful
                && self.scopes.iter().all(|scope| kept.scopes.contains(scope))
                && kept.issuer == self.discovered.issuer
                && kept.redirect_uri == self.redirect_uri
                && expires.is_none_or(|at| at > seconds.saturating_add(LOGIN))
        };
        self.kept.iter().rev().find(fits).map(|kept| &kept.client)
    }

    async fn register(&self, asking: &Asking) -> Result<ChosenClient, OAuthError> {
        let server = &self.discovered.server;
        let issuer = quoted(&self.discovered.issuer);
        let Some(endpoint) = &server.registration_endpoint else {
            let reason = if self.resource.client_metadata_url.is_some() {
                format!(
                    "{issuer} neither reads client metadata documents nor lets clients register \
                     themselves"
                )
            } else {
                format!("{issuer} does not let clients register themselves")
            };
            let hint = if server.takes_metadata_documents {
                "register a client by hand and set `auth.clientId`, or publish a client metadata \
                 document and set `auth.clientMetadataUrl`"
            } else {
                BY_HAND
            };
            return Err(OAuthError::lasting(reason).hint(hint));
        };
        let wanted = Wanted {
            server,
            redirect_uri: self.redirect_uri,
            scopes: self.scopes,
        };
        let client = wanted.register(asking, endpoint).await?;
        let id = quoted(&client.id);
        let why = if self.resource.client_metadata_url.is_some() {
            format!(
                "{issuer} does not read client metadata documents, so OpenClaw registered itself \
                 as `{id}`"
            )
        } else {
            format!("the configuration names no client, so OpenClaw registered itself as `{id}`")
        };
        Ok(ChosenClient {
            client,
            why,
            is_new: true,
        })
    }
}

/// The client that a document describes.
fn described(url: &Url) -> ChosenClient {
    ChosenClient {
        client: Client {
            id: url.to_string(),
            registration: Registration::MetadataDocument,
            authentication: Authentication::None,
            secret: None,
            secret_expires_at: None,
        },
        why: format!(
            "the authorization server reads client metadata documents, and the configuration \
             names {}",
            shown(url)
        ),
        is_new: false,
    }
}

#[cfg(test)]
mod tests;
