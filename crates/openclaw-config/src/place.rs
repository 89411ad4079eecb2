//! The places of the file that servers are read from.

use crate::agent::AgentId;

/// A place of the file that servers are read from; later ones are laid over earlier ones. Some stand in
/// no file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// `mcp.servers`, the only place that is written to.
    Mcp,
    /// `plugins.entries.mcp-client.config.servers`
    Plugin,
    /// `agents.defaults.mcp.servers`
    AgentDefaults,
    /// `agents.list[].mcp.servers` or `agents.entries.<id>.mcp.servers`
    Agent(AgentId),
    /// None: somebody lends it to a session.
    Session,
}

impl std::fmt::Display for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mcp => formatter.write_str("mcp.servers"),
            Self::Plugin => formatter.write_str("plugins.entries.mcp-client.config.servers"),
            Self::AgentDefaults => formatter.write_str("agents.defaults.mcp.servers"),
            Self::Agent(id) => write!(formatter, "agents.entries.{id}.mcp.servers"),
            Self::Session => formatter.write_str("the session"),
        }
    }
}
