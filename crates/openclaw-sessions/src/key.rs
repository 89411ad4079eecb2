//! The names of sessions.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use openclaw_config::AgentId;
use openclaw_content::shown_text;
use thiserror::Error;

/// How many characters a bare key may have, and what follows the agent in a whole one. The agent
/// does not count, so that a session which a bare key names can be named as a whole, too.
const LONGEST: usize = 512;
const AGENT: &str = "agent:";

/// The name of a session: `agent:<id>:<rest>`. Names are sensitive: they are hashed in logs.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey {
    agent: AgentId,
    text: String,
}

/// Whose keys nobody else may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReservedKind {
    /// Agents that another agent started.
    Subagent,
    /// What runs at set times.
    Cron,
    /// Editors, over the agent client protocol.
    Acp,
    /// What is started by events from outside.
    Hook,
}

impl ReservedKind {
    const ALL: [Self; 4] = [Self::Subagent, Self::Cron, Self::Acp, Self::Hook];

    /// What these keys begin with.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Subagent => "subagent:",
            Self::Cron => "cron:",
            Self::Acp => "acp:",
            Self::Hook => "hook:",
        }
    }
}

/// Why a text can't name a session.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SessionKeyError {
    /// It is empty or too long.
    #[error("a session key has 1 to 512 characters, and this has {0}")]
    Length(usize),
    /// It has characters that can't be seen.
    #[error("a session key has only printable characters")]
    Unprintable,
    /// It begins or ends with white space.
    #[error("a session key has no white space at its ends")]
    Spaces,
    /// It is kept for others.
    #[error("session keys that begin with `{0}` are reserved")]
    Reserved(&'static str),
    /// What follows `agent:` can't be the name of an agent.
    #[error("the agent in a session key has lower-case letters, digits, `-` and `_` alone")]
    Agent,
    /// What follows `agent:` is not the name of an agent and the rest.
    #[error("a session key with an agent is `agent:<id>:<rest>`")]
    Malformed,
}

/// How many characters of the prefix of a fresh key count.
const LONGEST_PREFIX: usize = 32;

impl SessionKey {
    /// Reads a key that somebody chose; a bare one is of this agent.
    pub fn parse(text: &str, default: &AgentId) -> Result<Self, SessionKeyError> {
        let (agent, rest) = parts(text, default)?;
        for kind in ReservedKind::ALL {
            if rest.starts_with(kind.prefix()) {
                return Err(SessionKeyError::Reserved(kind.prefix()));
            }
        }
        Self::new(agent, rest)
    }

    /// Reads a key of a session that may be there, to look at it or to delete it: a reserved one as
    /// well.
    pub fn parse_existing(text: &str, default: &AgentId) -> Result<Self, SessionKeyError> {
        let (agent, rest) = parts(text, default)?;
        Self::new(agent, rest)
    }

    /// The conversation that an agent goes on with where none is named.
    pub fn main(agent: &AgentId) -> Self {
        Self::whole(agent, "main")
    }

    /// A key that nobody has used: `agent:<id>:<prefix>-<milliseconds>-<random>`. Of the prefix,
    /// letters and digits count.
    pub fn fresh(agent: &AgentId, prefix: &str, now: SystemTime, random: u64) -> Self {
        let time = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let prefix: String = prefix
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(LONGEST_PREFIX)
            .collect();
        let rest = format!("{prefix}-{}-{random:016x}", time.as_millis());
        Self::whole(agent, &rest)
    }

    /// A key that people can't choose.
    pub fn reserved(
        agent: &AgentId,
        kind: ReservedKind,
        rest: &str,
    ) -> Result<Self, SessionKeyError> {
        Self::new(agent.clone(), &format!("{}{rest}", kind.prefix()))
    }

    /// Whose it is.
    pub fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// The whole of it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn new(agent: AgentId, rest: &str) -> Result<Self, SessionKeyError> {
        let length = rest.chars().count();
        if !(1..=LONGEST).contains(&length) {
            return Err(SessionKeyError::Length(length));
        }
        if rest.contains(char::is_control) || shown_text(rest) != rest {
            return Err(SessionKeyError::Unprintable);
        }
        if rest.trim() != rest {
            return Err(SessionKeyError::Spaces);
        }
        let text = format!("{AGENT}{agent}:{rest}");
        Ok(Self { agent, text })
    }

    fn whole(agent: &AgentId, rest: &str) -> Self {
        Self {
            agent: agent.clone(),
            text: format!("{AGENT}{agent}:{rest}"),
        }
    }
}

/// Whose a key is, and the rest of it.
fn parts<'a>(text: &'a str, default: &AgentId) -> Result<(AgentId, &'a str), SessionKeyError> {
    let prefix = text.get(..AGENT.len()).unwrap_or_default();
    if !prefix.eq_ignore_ascii_case(AGENT) {
        return Ok((default.clone(), text));
    }
    // `Agent:` is a slip, and no name that somebody would choose.
    let whole = text.strip_prefix(AGENT).ok_or(SessionKeyError::Malformed)?;
    let (agent, rest) = whole.split_once(':').ok_or(SessionKeyError::Malformed)?;
    let agent = AgentId::new(agent).map_err(|_| SessionKeyError::Agent)?;
    if rest.is_empty() {
        return Err(SessionKeyError::Malformed);
    }
    Ok((agent, rest))
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("SessionKey").finish_non_exhaustive()
    }
}
