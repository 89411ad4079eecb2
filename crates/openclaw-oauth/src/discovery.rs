//! Finding out who grants tokens for a server, and how.

mod document;
mod issuer;
mod resource_metadata;
mod server_metadata;
mod well_known;

use std::time::Duration;

use tokio::time::timeout;
use url::Url;

use crate::asking::{Asking, shown};
use crate::challenge::Challenge;
use crate::error::OAuthError;
use crate::resource::Resource;
use resource_metadata::{Described, ResourceMetadata};

pub(crate) use issuer::is_same_issuer;
pub(crate) use server_metadata::ServerMetadata;

/// How long it may take to find everything out.
const PATIENCE: Duration = Duration::from_secs(30);

/// Who grants tokens for a server, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Discovered {
    /// What the tokens are for (RFC 8707), exactly as the server calls itself.
    pub(crate) resource: String,
    /// Who grants them, exactly as its metadata say.
    pub(crate) issuer: String,
    /// How it was found.
    pub(crate) found: How,
    /// What it offers.
    pub(crate) server: ServerMetadata,
    /// The scopes that the server says it knows.
    pub(crate) resource_scopes: Vec<String>,
}

/// How an authorization server was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// The configuration names it.
    Configured,
    /// The server's description of itself names it.
    Described,
    /// Nothing names it; there is one where the server is (the way of 2025-03-26).
    BesideServer,
    /// There are no metadata at all; the usual addresses where the server is are tried (the way of
    /// 2025-03-26).
    Usual,
}

impl How {
    /// How, in words that go on "the authorization server".
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Configured => "that the configuration names",
            Self::Described => "that the server names",
            Self::BesideServer => "at the server's own address",
            Self::Usual => "at the usual addresses, since the server describes nothing",
        }
    }
}

/// Finds out who grants tokens for a server, and how.
pub(crate) async fn discover(
    asking: &Asking,
    resource: &Resource,
    challenge: &Challenge,
) -> Result<Discovered, OAuthError> {
    let search = Search {
        asking,
        resource,
        challenge,
    };
    let found = timeout(PATIENCE, search.run()).await;
    found.unwrap_or_else(|_| {
        let (url, seconds) = (shown(&resource.url), PATIENCE.as_secs());
        Err(OAuthError::passing(format!(
            "how to log in to {url} can't be found out within {seconds} seconds"
        )))
    })
}

struct Search<'a> {
    asking: &'a Asking,
    resource: &'a Resource,
    challenge: &'a Challenge,
}

impl Search<'_> {
    async fn run(&self) -> Result<Discovered, OAuthError> {
        let described =
            resource_metadata::find(self.asking, &self.resource.url, self.challenge).await;
        if let Some(configured) = &self.resource.authorization_server {
            return self.configured(configured, described).await;
        }
        match described? {
            Described::Document(description) if description.authorization_servers.is_empty() => {
                let beside = self.beside_server(&description).await?;
                beside.ok_or_else(|| {
                    let url = shown(&self.resource.url);
                    OAuthError::lasting(format!(
                        "{url} names no authorization server, and there is none at its own address"
                    ))
                    .hint("set `auth.authorizationServerUrl`")
                })
            }
            Described::Document(description) => self.described(description).await,
            Described::Nothing { instead } => {
                let nobody = ResourceMetadata::of_server(&self.resource.url);
                if let Some(beside) = self.beside_server(&nobody).await? {
                    return Ok(beside);
                }
                match instead {
                    // Something answers that is no description: the usual addresses would be
                    // answered by the same thing.
                    Some(error) => Err(error),
                    None => self.usual(&nobody),
                }
            }
        }
    }

    /// The authorization server of the configuration. What is wrong with the server's description
    /// of itself does not matter then: naming an authorization server is the way around it.
    async fn configured(
        &self,
        configured: &Url,
        described: Result<Described, OAuthError>,
    ) -> Result<Discovered, OAuthError> {
        let description = match described {
            Ok(Described::Document(description)) => description,
            Ok(Described::Nothing { .. }) | Err(_) => {
                ResourceMetadata::of_server(&self.resource.url)
            }
        };
        let issuers = [configured.as_str().to_owned()];
        let found = self.first_of(&issuers).await?;
        let found = found.ok_or_else(|| nothing_about(&shown(configured)))?;
        Ok(discovered(&description, found, How::Configured))
    }

    async fn described(&self, description: ResourceMetadata) -> Result<Discovered, OAuthError> {
        let found = self.first_of(&description.authorization_servers).await?;
        let found = found.ok_or_else(|| {
            let named = description.authorization_servers.first();
            let named = named.and_then(|named| Url::parse(named).ok());
            nothing_about(&shown(named.as_ref().unwrap_or(&self.resource.url)))
        })?;
        Ok(discovered(&description, found, How::Described))
    }

    async fn beside_server(
        &self,
        description: &ResourceMetadata,
    ) -> Result<Option<Discovered>, OAuthError> {
        let issuers = [self.resource.url.origin().ascii_serialization()];
        let found = self.first_of(&issuers).await?;
        Ok(found.map(|found| discovered(description, found, How::BesideServer)))
    }

    async fn first_of(
        &self,
        issuers: &[String],
    ) -> Result<Option<(String, ServerMetadata)>, OAuthError> {
        server_metadata::find(self.asking, issuers, self.resource.grant).await
    }

    /// The usual addresses (MCP 2025-03-26, "Fallbacks for Servers without Metadata Discovery").
    fn usual(&self, description: &ResourceMetadata) -> Result<Discovered, OAuthError> {
        let url = &self.resource.url;
        self.asking.check(url)?;
        let server = ServerMetadata::usual(url).ok_or_else(|| nothing_about(&shown(url)))?;
        let found = (url.origin().ascii_serialization(), server);
        Ok(discovered(description, found, How::Usual))
    }
}

fn discovered(
    description: &ResourceMetadata,
    (issuer, server): (String, ServerMetadata),
    found: How,
) -> Discovered {
    Discovered {
        resource: description.resource.clone(),
        issuer,
        found,
        server,
        resource_scopes: description.scopes.clone(),
    }
}

fn nothing_about(shown: &str) -> OAuthError {
    OAuthError::lasting(format!(
        "the authorization server {shown} has no metadata at any of the usual places"
    ))
}

#[cfg(test)]
mod tests;
