//! A server that may ask who we are, and what its configuration says about that.

use std::path::PathBuf;
use std::pin::Pin;

use openclaw_secrets::Secret;
use url::Url;

use crate::error::OAuthError;

/// A server that may ask who we are, and what its configuration says about that.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its name in the configuration.
    pub server: String,
    /// Its address.
    pub url: Url,
    /// How tokens are granted.
    pub grant: Grant,
    /// The identifier of a client that was registered by hand.
    pub client_id: Option<String>,
    /// The identifier of the key that this client signs with.
    pub key_id: Option<String>,
    /// The public address of a client metadata document.
    pub client_metadata_url: Option<Url>,
    /// The authorization server, instead of the one that the server names.
    pub authorization_server: Option<Url>,
    /// The scopes to ask for, instead of those that the server names.
    pub scopes: Option<Vec<String>>,
    /// Where the browser is sent to after the login.
    pub redirect: Redirect,
    /// A file with more authorities to trust, for the server and its authorization server.
    pub authorities: Option<PathBuf>,
    /// Whether the certificate of the server itself is checked; that of others always is.
    pub verify: bool,
    /// Our own certificate, for the server itself.
    pub identity: Option<OwnCertificate>,
}

/// Files with our own certificate and its key, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnCertificate {
    /// The certificate.
    pub certificate: PathBuf,
    /// The key; in the same file as the certificate where there is none.
    pub key: Option<PathBuf>,
}

/// How tokens are granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// A person logs in with a browser.
    AuthorizationCode,
    /// The client itself is who logs in.
    ClientCredentials,
}

/// Where the browser is sent to after a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Redirect {
    /// To this machine.
    Here {
        /// The host, as it stands in the address: `127.0.0.1`, `localhost` or `[::1]`.
        host: String,
        /// The port; a free one where there is none.
        port: Option<u16>,
        /// The path.
        path: String,
    },
    /// To this address, which is not on this machine: a person has to bring what arrives there.
    Elsewhere(Url),
}

impl Default for Redirect {
    fn default() -> Self {
        Self::Here {
            host: "127.0.0.1".to_owned(),
            port: None,
            path: "/callback".to_owned(),
        }
    }
}

/// What a configured client proves its identity with.
#[derive(Clone, Debug, Default)]
pub struct ConfiguredKeys {
    /// A secret that the authorization server knows, too.
    pub secret: Option<Secret>,
    /// A private key, in PEM.
    pub private_key: Option<Secret>,
}

/// Keys that are still to come.
pub type PendingKeys<'a> =
    Pin<Box<dyn Future<Output = Result<ConfiguredKeys, OAuthError>> + Send + 'a>>;

/// Gets the keys of a configured client when they are needed, and not before: they may lie in a
/// store, and may be changed there.
pub trait KeysSource: Send + Sync {
    /// The keys as of now.
    fn keys(&self) -> PendingKeys<'_>;
}
