//! The configuration as it stands in the file: every field once, with its names and its text.
//!
//! Nothing here decides what fields mean together; see `server` and `resolve` for that.

mod agents;
mod credential;
mod gateway;
mod models;
mod policy;
mod root;
mod secrets;
mod server;

pub(crate) use agents::{RawAgent, RawAgentDefaults, RawModel};
pub use credential::ConfigValue;
pub(crate) use credential::RawCredential;
pub use gateway::GatewayAuthMode;
pub(crate) use gateway::RawGateway;
pub(crate) use models::RawProvider;
pub use policy::{Approval, ToolSearch, WithoutPerson};
pub(crate) use policy::{RawPolicy, RawTools};
pub(crate) use root::RawRoot;
pub use secrets::FileMode;
pub(crate) use secrets::{ProviderSource, RawSecretProvider};
pub(crate) use server::{Auth, Inherit, RawOAuth, RawServer, ServerEntry, Servers, TransportWord};
