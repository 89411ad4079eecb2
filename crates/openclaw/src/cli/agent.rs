//! `openclaw agent`, `openclaw chat` and `openclaw sessions`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::Json;

/// A message for an agent.
#[derive(Debug, Default, Args)]
pub(crate) struct AgentOptions {
    /// The message; `-` reads it from stdin [default: stdin, where that is not a terminal]
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) message: Option<String>,
    /// The message, as -m gives it
    #[arg(value_name = "TEXT", conflicts_with = "message", hide = true)]
    pub(crate) said: Option<String>,
    /// The agent that answers [default: the one of the session, else the default agent]
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Goes on with this session [default: the agent's main one]
    #[arg(long, value_name = "KEY")]
    pub(crate) session_key: Option<String>,
    /// Begins a new session
    #[arg(long, conflicts_with = "session_key")]
    pub(crate) new: bool,
    /// Sends an image along: PNG, JPEG, GIF or WebP; may be given again
    #[arg(long = "image", value_name = "FILE")]
    pub(crate) images: Vec<PathBuf>,
    /// Sends a file along; may be given again
    #[arg(long = "file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Asks this model, as PROVIDER/MODEL [default: the agent's]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Allows every tool without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}

/// A conversation with an agent.
#[derive(Debug, Default, Args)]
pub(crate) struct ChatOptions {
    /// The agent that answers [default: the one of the session, else the default agent]
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Goes on with this session [default: the agent's main one]
    #[arg(long, value_name = "KEY")]
    pub(crate) session_key: Option<String>,
    /// Begins a new session
    #[arg(long, conflicts_with = "session_key")]
    pub(crate) new: bool,
    /// Asks this model, as PROVIDER/MODEL [default: the agent's]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Allows every tool without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// What was said with agents.
#[derive(Debug, Args)]
pub(crate) struct SessionsOptions {
    #[command(subcommand)]
    pub(crate) command: Option<SessionsCommand>,
    /// Only sessions of this agent; whose a bare key is [default: the default agent]
    #[arg(long, global = true, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Where sessions are kept
    #[arg(long, global = true, value_name = "STORE", default_value = "file")]
    pub(crate) store: Store,
    /// Prints JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// Lists the sessions
    List,
    /// Shows what was said in a session
    Show {
        /// The session
        key: String,
    },
    /// Prints the messages of a session, a line of JSON each
    Export {
        /// The session
        key: String,
    },
    /// Deletes a session
    #[command(visible_alias = "remove")]
    Delete {
        /// The session
        key: String,
    },
}

/// Where sessions are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Store {
    /// In the state directory
    File,
}
