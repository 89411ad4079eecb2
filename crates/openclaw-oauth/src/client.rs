//! Who we are to an authorization server.

use openclaw_secrets::Secret;
use serde::{Deserialize, Serialize};

use crate::error::OAuthError;
use crate::kept::secret_text;
use crate::resource::{ConfiguredKeys, KeysSource};

/// A client as an authorization server knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Client {
    /// Its identifier.
    pub id: String,
    /// How it came to be known.
    pub registration: Registration,
    /// How it proves its identity.
    pub authentication: Authentication,
    /// The secret that it was given when it was registered. That of a client from the configuration
    /// is not kept.
    #[serde(
        default,
        with = "secret_text::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub secret: Option<Secret>,
    /// When that secret expires, in seconds since 1970; never where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_expires_at: Option<u64>,
}

impl Client {
    /// What it proves its identity with, beside what it was given when it was registered.
    pub(crate) async fn keys(&self, source: &dyn KeysSource) -> Result<ConfiguredKeys, OAuthError> {
        match self.registration {
            Registration::Configured => source.keys().await,
            Registration::MetadataDocument | Registration::Dynamic => Ok(ConfiguredKeys::default()),
        }
    }
}

/// How a client came to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Registration {
    /// Somebody registered it by hand, and the configuration names it.
    Configured,
    /// Its identifier is the address of a document about it.
    MetadataDocument,
    /// It registered itself.
    Dynamic,
}

/// How a client proves its identity at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Authentication {
    /// Not at all: it is public.
    None,
    /// With its secret in the header `Authorization`.
    ClientSecretBasic,
    /// With its secret in the body.
    ClientSecretPost,
    /// With something that it signed.
    PrivateKeyJwt,
}
