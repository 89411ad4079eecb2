//! Why there is no reply.

use std::time::Duration;

use openclaw_engine::EngineFailure;
use openclaw_models::ModelError;
use openclaw_sessions::{SessionError, SessionKeyError};
use thiserror::Error;

/// Why there is no reply.
#[derive(Debug, Error)]
pub enum TurnError {
    /// There is no such agent.
    #[error("there is no agent {name:?}")]
    UnknownAgent {
        /// Its name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The session is another agent's.
    #[error("the session belongs to the agent {owner}, and not to {asked}")]
    OtherAgent {
        /// Whose it is.
        owner: String,
        /// Whose it should be.
        asked: String,
    },
    /// The name of the session is none.
    #[error(transparent)]
    Key(#[from] SessionKeyError),
    /// There is nothing to answer.
    #[error("the message is empty")]
    Empty,
    /// The message is too large.
    #[error("the message has {bytes} bytes, and {limit} is the most")]
    TooLarge {
        /// How many it has.
        bytes: usize,
        /// How many it may have.
        limit: usize,
    },
    /// What was said before is too much to begin a session with.
    #[error(
        "what was said before is {messages} messages with {bytes} bytes; at most {most} messages \
         with {limit} bytes can be taken over"
    )]
    TooMuchBefore {
        /// How many messages there are.
        messages: usize,
        /// How many there may be.
        most: usize,
        /// How many bytes they have.
        bytes: usize,
        /// How many they may have.
        limit: usize,
    },
    /// The instructions for the turn are too long.
    #[error("the instructions have {bytes} bytes, and {limit} is the most")]
    InstructionsTooLarge {
        /// How many they have.
        bytes: usize,
        /// How many they may have.
        limit: usize,
    },
    /// Something that came with the message can't be used.
    #[error("{name} can't be used: {reason}")]
    Attachment {
        /// What it is called.
        name: String,
        /// Why not.
        reason: String,
    },
    /// The model did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The session can't be used.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The turn took too long.
    #[error("the turn was stopped: it took more than {} s", within.as_secs())]
    TimedOut {
        /// How long it had.
        within: Duration,
    },
    /// The model went on calling tools.
    #[error(
        "the turn was stopped: the model was asked {rounds} times and never stopped calling tools \
         ({calls} calls were made)"
    )]
    TooManyRounds {
        /// How often it was asked.
        rounds: u32,
        /// How many calls were made.
        calls: usize,
    },
}

/// Where the calls of a turn are that was stopped.
const KEPT: &str = "`openclaw sessions show` has what was done";

impl TurnError {
    /// A word for it, as failures have it.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::UnknownAgent { .. } => "unknown-agent",
            Self::OtherAgent { .. } => "other-agent",
            Self::Key(_) => "session-key",
            Self::Empty => "empty-message",
            Self::TooLarge { .. }
            | Self::TooMuchBefore { .. }
            | Self::InstructionsTooLarge { .. } => "message-too-large",
            Self::Attachment { .. } => "attachment",
            Self::Model(error) => error.code(),
            Self::Session(SessionError::InUse { .. }) => "session-in-use",
            Self::Session(_) => "session",
            Self::TimedOut { .. } => "turn-timed-out",
            Self::TooManyRounds { .. } => "too-many-rounds",
        }
    }
}

impl From<TurnError> for EngineFailure {
    fn from(error: TurnError) -> Self {
        let (message, code) = (error.to_string(), error.code());
        match error {
            TurnError::UnknownAgent { known, .. } => {
                Self::asker(code, message).hint(format!("the agents are: {}", known.join(", ")))
            }
            TurnError::OtherAgent { .. } => {
                Self::asker(code, message).hint("leave out `--agent`, or take another session key")
            }
            TurnError::Key(_)
            | TurnError::Empty
            | TurnError::TooLarge { .. }
            | TurnError::TooMuchBefore { .. }
            | TurnError::InstructionsTooLarge { .. }
            | TurnError::Attachment { .. } => Self::asker(code, message),
            TurnError::Model(error) => model_failure(&error, message),
            TurnError::Session(SessionError::InUse { .. }) => Self::operation(code, message)
                .hint("wait for the other turn, or use another session"),
            TurnError::Session(_) => Self::operation(code, message).hint(
                "`openclaw doctor` looks at the store; `OPENCLAW_STATE_DIR` sets where it is",
            ),
            TurnError::TimedOut { .. } => Self::operation(code, message).hint(format!(
                "{KEPT}; `agents.defaults.timeoutSeconds` sets how long it may take"
            )),
            TurnError::TooManyRounds { .. } => Self::operation(code, message).hint(format!(
                "{KEPT}; `agents.defaults.maxRounds` sets how often it is asked"
            )),
        }
    }
}

/// What is told of a model that did not answer.
fn model_failure(error: &ModelError, message: String) -> EngineFailure {
    let code = error.code();
    match error {
        ModelError::UnknownModel { hint, .. } | ModelError::NoKey { hint, .. } => {
            EngineFailure::asker(code, message).hint(hint.clone())
        }
        ModelError::KeyRefused { .. } => EngineFailure::operation(code, message)
            .hint("`openclaw doctor --probe` asks each service whether it takes its key"),
        ModelError::TooLong { .. } => EngineFailure::operation(code, message)
            .hint("begin a new session, or send less at once"),
        _ => EngineFailure::operation(code, message),
    }
}
