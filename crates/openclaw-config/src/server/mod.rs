//! Servers whose definitions have been found sound.

mod address;
mod definition;
mod launch;
mod lent;
mod name;
mod plaintext;
mod remote;
mod settings;
mod validate;

pub(crate) use address::{Reach, address_pattern, address_schema, parse_address, whole_schema};
pub use definition::{Restart, Server, ServerResources, Timeouts, ToolFilter};
pub use launch::{
    Authorization, ClientIdentity, InheritedEnvironment, Launch, OAuthSettings, RemoteLaunch,
    RemoteTransport, StdioLaunch, TlsSettings,
};
pub use lent::{LentError, LentLaunch, lent_server};
pub use name::{NameError, ServerName};
pub(crate) use plaintext::{is_in_arguments, is_plaintext};
pub use settings::{CallbackHost, GrantType, PinPolicy, ProtocolChoice, ServerScope, ToolNaming};
pub(crate) use validate::{Candidate, Findings, PlaceDefaults, validate};
