//! How a server is started or reached: all that makes one connection different from another.

use std::collections::BTreeMap;
use std::path::PathBuf;

use url::Url;

use crate::raw::ConfigValue;
use crate::server::settings::{CallbackHost, GrantType, ProtocolChoice};

/// How a server is started or reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// A program that is started here and spoken to over its standard streams.
    Stdio(StdioLaunch),
    /// A server at an address.
    Remote(RemoteLaunch),
}

/// A program to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StdioLaunch {
    /// The program, looked up on the `PATH` when it is started.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables for its environment.
    pub environment: BTreeMap<String, ConfigValue>,
    /// What it gets of our own environment beside the usual variables.
    pub inherited: InheritedEnvironment,
    /// Its working directory, absolute; ours where there is none.
    pub directory: Option<PathBuf>,
    /// Which era of the protocol is spoken.
    pub protocol: ProtocolChoice,
    /// The roots that are announced, where any are.
    pub roots: Option<Vec<Url>>,
}

/// What a program gets of our environment beside the usual variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InheritedEnvironment {
    /// Nothing.
    Nothing,
    /// Everything.
    All,
    /// The variables of these names.
    Names(Vec<String>),
}

/// A server at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteLaunch {
    /// Which of the two HTTP transports is tried first.
    pub transport: RemoteTransport,
    /// The address.
    pub url: Url,
    /// Headers for every request, names in lower case; `authorization` is not among them.
    pub headers: BTreeMap<String, ConfigValue>,
    /// How we prove who we are.
    pub authorization: Authorization,
    /// How the server proves who it is.
    pub tls: TlsSettings,
    /// Which era of the protocol is spoken.
    pub protocol: ProtocolChoice,
    /// The roots that are announced, where any are.
    pub roots: Option<Vec<Url>>,
}

/// The two HTTP transports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteTransport {
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events.
    Sse,
}

/// How we prove to a server who we are, the strongest setting first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authorization {
    /// `headers.Authorization`, sent as it is.
    Header(ConfigValue),
    /// `apiKey`, sent as a bearer token.
    ApiKey(ConfigValue),
    /// An OAuth login, where the server asks for one.
    OAuth(Box<OAuthSettings>),
}

/// The settings of an OAuth login; everything that is not set is found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OAuthSettings {
    /// Whether the configuration asks for a login before the server does.
    pub required: bool,
    /// How tokens are granted.
    pub grant_type: GrantType,
    /// The identifier of a client that was registered by hand.
    pub client_id: Option<String>,
    /// The secret of that client.
    pub client_secret: Option<ConfigValue>,
    /// The private key of that client, in PEM.
    pub private_key: Option<ConfigValue>,
    /// The identifier of that key.
    pub key_id: Option<String>,
    /// The authorization server, instead of the one that the server names.
    pub authorization_server: Option<Url>,
    /// The scopes to ask for, instead of those that the server names.
    pub scopes: Option<Vec<String>>,
    /// The whole address of the callback.
    pub redirect_url: Option<Url>,
    /// The public address of a client metadata document.
    pub client_metadata_url: Option<Url>,
    /// The host of the callback.
    pub callback_host: CallbackHost,
    /// The port of the callback; `None` takes a free one.
    pub callback_port: Option<u16>,
    /// The path of the callback.
    pub callback_path: String,
}

/// How a server proves who it is, and how we prove it on this level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsSettings {
    /// Whether the server's certificate is checked.
    pub verify: bool,
    /// A file with more authorities to trust.
    pub authorities: Option<PathBuf>,
    /// Our own certificate.
    pub identity: Option<ClientIdentity>,
}

/// Files with our certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientIdentity {
    /// The certificate.
    pub certificate: PathBuf,
    /// The key; in the same file as the certificate where there is none.
    pub key: Option<PathBuf>,
}
