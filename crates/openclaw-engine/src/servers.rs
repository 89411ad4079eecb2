//! Servers and how they are.

use serde::{Deserialize, Serialize};

/// Asks how the servers of an agent are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServersQuery {
    /// The agent; the default one if none is named.
    pub agent: Option<String>,
    /// Whether to wait until each server is ready or will not be so soon. Without it the answer
    /// is how they are right now; starting goes on.
    pub wait: bool,
    /// Those that are started and waited for; all if none are named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<String>>,
}

/// Names one server of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OneServer {
    /// The agent; the default one if none is named.
    pub agent: Option<String>,
    /// The server.
    pub server: String,
}

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransportKind {
    /// Over the standard streams of its program.
    Stdio,
    /// Over Streamable HTTP.
    Http,
    /// Over HTTP with server-sent events.
    Sse,
}

/// How a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShownState {
    /// It can be used.
    Ready,
    /// It is being started or reached.
    Connecting,
    /// It was lost and is started or reached again.
    Restarting,
    /// It wants to know who we are.
    NeedsAuth,
    /// It is given up on until somebody asks for it.
    Failed,
    /// It does not run, because nobody needs it or somebody stopped it.
    Stopped,
    /// The configuration switches it off.
    Disabled,
}

impl ShownState {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Ready,
        Self::Connecting,
        Self::Restarting,
        Self::NeedsAuth,
        Self::Failed,
        Self::Stopped,
        Self::Disabled,
    ];

    /// The word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Connecting => "connecting",
            Self::Restarting => "restarting",
            Self::NeedsAuth => "needs-auth",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Disabled => "disabled",
        }
    }

    /// Whether a server that is like this can't be used although it should be.
    pub fn is_trouble(self) -> bool {
        match self {
            Self::Failed | Self::Restarting | Self::NeedsAuth => true,
            Self::Ready | Self::Connecting | Self::Stopped | Self::Disabled => false,
        }
    }
}

/// How we prove to a server who we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuthKind {
    /// Not at all.
    None,
    /// With a key or header of the configuration.
    ApiKey,
    /// With an OAuth login.
    Oauth,
}

/// A server of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerReport {
    /// Its name.
    pub name: String,
    /// How it is spoken to; none if its definition can't be used.
    pub transport: Option<TransportKind>,
    /// The program with its arguments, or the address; credentials hidden.
    pub target: String,
    /// Whether the configuration switches it on.
    pub enabled: bool,
    /// How it is.
    pub state: ShownState,
    /// How we prove who we are.
    pub auth: AuthKind,
    /// How many tools the agent may use.
    pub tools: usize,
    /// How many resources it offers.
    pub resources: usize,
    /// How many prompts it offers.
    pub prompts: usize,
    /// The number of its process.
    pub pid: Option<u32>,
    /// The revision of the protocol that was agreed on.
    pub protocol_version: Option<String>,
    /// How often it was started again.
    pub restarts: u32,
    /// What went wrong, or why it does not run.
    pub error: Option<String>,
}

/// The servers of an agent, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServersReport {
    /// The servers.
    pub servers: Vec<ServerReport>,
    /// What a person should know: a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A server in detail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerDetails {
    /// What the list says about it.
    #[serde(flatten)]
    pub report: ServerReport,
    /// The name and version that it gives itself; only its word.
    pub server_info: Option<String>,
    /// The session that the server assigned, shortened: who has it can take part.
    pub session_id: Option<String>,
    /// When the token of the login expires.
    pub token_expires_at: Option<String>,
    /// Whether it is renewed without a person.
    pub token_renewable: Option<bool>,
    /// What the login allows.
    pub scopes: Option<Vec<String>>,
    /// Who issued it.
    pub issuer: Option<String>,
    /// When it last answered a heartbeat.
    pub last_heartbeat: Option<String>,
    /// The last lines of its standard error.
    pub stderr: Vec<String>,
    /// The program that the command stands for on this machine.
    pub resolved_command: Option<String>,
    /// How many things that it sent could not be used.
    pub passed_over: u64,
}

/// Asks what a server wrote to its standard error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogsQuery {
    /// The agent; the default one if none is named.
    pub agent: Option<String>,
    /// The server.
    pub server: String,
    /// The number of the last line that is known already; only what came behind it is told.
    pub after: u64,
}

/// What a server wrote to its standard error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogsReport {
    /// The server.
    pub server: String,
    /// The last lines, the newest at the end.
    pub lines: Vec<String>,
    /// The number of the last line there is, so that who asks again is told what came behind it.
    pub last: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_the_same_word_everywhere() {
        for state in ShownState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
    }
}
