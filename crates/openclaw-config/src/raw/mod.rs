//! The configuration as it stands in the file: every field once, with its names and its text.
//!
//! Nothing here decides what fields mean together; see `server` and `resolve` for that.

mod address;
mod agents;
mod credential;
mod diagnostics;
mod entries;
mod gateway;
mod media;
mod models;
mod policy;
mod root;
mod secrets;
mod server;
mod sessions;
mod skills;
mod variables;

pub(crate) use agents::{RawAgent, RawAgentDefaults, RawModel};
pub use credential::ConfigValue;
pub(crate) use credential::RawCredential;
pub(crate) use diagnostics::{RawDiagnostics, RawOtel};
pub(crate) use entries::Entry;
pub(crate) use gateway::RawGateway;
pub use gateway::{GatewayAuthMode, GatewayBind};
pub(crate) use media::{RawMedia, RawTranscription, TranscriptionProvider};
pub(crate) use models::RawProvider;
pub use policy::{Approval, ToolSearch, WithoutPerson};
pub(crate) use policy::{RawPolicy, RawTools};
pub(crate) use root::RawRoot;
pub use secrets::FileMode;
pub(crate) use secrets::{ProviderSource, RawSecretProvider};
pub(crate) use server::{
    Argument, Auth, Inherit, RawOAuth, RawResources, RawServer, Servers, TransportWord,
};
pub(crate) use skills::{RawSkill, RawSkills};
pub(crate) use variables::{is_header_name, is_header_value};
