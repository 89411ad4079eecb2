//! What is connected to: everything that is needed to reach one server, credentials resolved.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use openclaw_process::Inherited;
use openclaw_secrets::Secret;
use url::Url;

use crate::authorize::Authorizer;

/// A server to connect to.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name, for messages and the log.
    pub name: String,
    /// What makes it the same server as before, for what is remembered about it between runs;
    /// nothing is remembered without.
    pub fingerprint: Option<String>,
    /// Where it is.
    pub endpoint: Endpoint,
    /// Which era of the protocol is spoken.
    pub protocol: Protocol,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// Whether its tools may be called at the same time.
    pub parallel_calls: bool,
    /// The roots that are announced, where any are.
    pub roots: Option<Vec<Url>>,
}

/// Where a server is.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// In a program that is started here and spoken to over its standard streams.
    Program(ProgramTarget),
    /// At an address.
    Address(Box<AddressTarget>),
}

/// A program to start.
#[derive(Clone)]
pub struct ProgramTarget {
    /// The program: a name to look up on the `PATH`, or a path.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables for its environment.
    pub environment: Vec<(String, Secret)>,
    /// What it gets of our own environment beside the usual variables.
    pub inherited: Inherited,
    /// Its working directory; ours where there is none.
    pub directory: Option<PathBuf>,
}

/// A server at an address.
#[derive(Clone)]
pub struct AddressTarget {
    /// The address.
    pub url: Url,
    /// Which of the two HTTP transports is tried first.
    pub first: FirstTransport,
    /// Headers for every request.
    pub headers: Vec<(String, Secret)>,
    /// How we prove who we are.
    pub authorization: Authorization,
    /// How both sides prove who they are.
    pub tls: TlsSettings,
}

/// How we prove to a server who we are. An `Authorization` among the headers, and a user in the
/// address, win over all of it.
#[derive(Clone)]
pub enum Authorization {
    /// Not at all.
    None,
    /// With this value of `Authorization`.
    Fixed(Secret),
    /// With what this has for each request.
    Asked(Arc<dyn Authorizer>),
}

impl fmt::Debug for ProgramTarget {
    /// Arguments may hold what should not be shown.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ProgramTarget")
            .field("command", &self.command)
            .field("arguments", &self.arguments.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for AddressTarget {
    /// Queries and users may hold what should not be shown.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = self.url.origin().ascii_serialization();
        formatter
            .debug_struct("AddressTarget")
            .field("url", &format_args!("{origin}{}", self.url.path()))
            .finish_non_exhaustive()
    }
}

/// The HTTP transport that is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstTransport {
    /// Streamable HTTP.
    Streamable,
    /// HTTP with server-sent events, of the first revision.
    Events,
}

/// How both sides of a TLS connection prove who they are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TlsSettings {
    /// Whether the server's certificate is checked.
    pub verify: bool,
    /// A file with more authorities to trust.
    pub authorities: Option<PathBuf>,
    /// Our own certificate.
    pub identity: Option<ClientIdentity>,
}

impl Default for TlsSettings {
    fn default() -> Self {
        Self {
            verify: true,
            authorities: None,
            identity: None,
        }
    }
}

/// Files with our certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientIdentity {
    /// The certificate.
    pub certificate: PathBuf,
    /// The key; in the same file as the certificate where there is none.
    pub key: Option<PathBuf>,
}

/// Which era of the protocol is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// The one that the server speaks.
    #[default]
    Auto,
    /// The first: a handshake, then messages in a session.
    Legacy,
    /// The second: every request stands for itself.
    Modern,
}

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Connecting, the program's start and all attempts included.
    pub connection: Duration,
    /// A request without a sign of life.
    pub request: Duration,
    /// A request in all.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connection: Duration::from_secs(30),
            request: Duration::from_mins(1),
            total: Duration::from_mins(10),
        }
    }
}
