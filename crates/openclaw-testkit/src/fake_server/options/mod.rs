//! What the program is told on its command line.

mod http;
mod process;
mod protocol;
mod resources;

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

pub(crate) use http::{HttpFaults, StatusBody};
pub(crate) use process::ProcessFaults;
pub(crate) use protocol::{FramingFaults, ProtocolFaults};
pub(crate) use resources::ResourceChoices;

/// The revisions of the first era, oldest first.
pub(crate) const FIRST_ERA: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The revisions without a handshake, oldest first.
pub(crate) const MODERN_ERA: [&str; 1] = ["2026-07-28"];

/// A fake MCP server: correct unless a flag tells it to misbehave.
#[derive(Debug, Parser)]
#[command(name = "fake-mcp-server", disable_version_flag = true)]
pub(crate) struct Options {
    /// How it is reached
    #[arg(value_enum, default_value_t = Mode::Stdio)]
    pub(crate) mode: Mode,
    /// The eras of the protocol that it speaks
    #[arg(long, value_enum, default_value_t = EraChoice::Both)]
    pub(crate) era: EraChoice,
    /// The only revisions that it speaks, of those of its eras
    #[arg(long, value_name = "REVISION,…", value_delimiter = ',')]
    pub(crate) versions: Vec<String>,
    /// The port to listen on, on 127.0.0.1; 0 lets the system choose
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// `http`: serves the older HTTP+SSE, too
    #[arg(long)]
    pub(crate) both: bool,
    /// `http`: gives out no session ids in the first era
    #[arg(long)]
    pub(crate) stateless: bool,
    /// Appends a JSON line for everything that is received or happens
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// Ignored; lets tests find the process, and what it starts, by its command line
    #[arg(long, value_name = "TEXT")]
    pub(crate) marker: Option<String>,
    /// Ends after so long, whatever else it was told, so that no test leaves it behind for ever
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub(crate) lifetime: u64,
    /// Lists have pages of this size
    #[arg(long, value_name = "N")]
    pub(crate) page_size: Option<usize>,
    /// Adds so many generated tools
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) tools: usize,
    /// Offers only these of its own tools
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) only_tools: Vec<String>,
    /// Offers these tools as well, which give their arguments back
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) also_tools: Vec<String>,

    /// Lists this tool, but does not know it when it is called
    #[arg(long, value_name = "NAME")]
    pub(crate) forget_tool: Option<String>,
    /// The text that it gives as its instructions
    #[arg(long, value_name = "TEXT")]
    pub(crate) instructions: Option<String>,
    /// The request whose reply is spoilt by the flags that spoil a single reply; `*` means all
    #[arg(long, value_name = "METHOD", default_value = "tools/call")]
    pub(crate) at: String,
    #[command(flatten)]
    pub(crate) resources: ResourceChoices,
    #[command(flatten)]
    pub(crate) protocol: ProtocolFaults,
    #[command(flatten)]
    pub(crate) framing: FramingFaults,
    #[command(flatten)]
    pub(crate) process: ProcessFaults,
    #[command(flatten)]
    pub(crate) http: HttpFaults,
}

/// How the program is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Over its standard input and output
    Stdio,
    /// Streamable HTTP at `/mcp`
    Http,
    /// The older HTTP+SSE at `/sse` and `/message`
    Sse,
    /// Not a server: the process that `--grandchild` starts
    #[value(hide = true)]
    Grandchild,
}

/// The eras of the protocol that the program speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EraChoice {
    /// With the `initialize` handshake
    Legacy,
    /// Without it
    Modern,
    /// Whichever the client begins with
    Both,
}

/// The era of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    First,
    Modern,
}

impl Options {
    /// The revisions of an era that it speaks, oldest first; none if it does not speak that era.
    pub(crate) fn revisions(&self, era: Era) -> Vec<&'static str> {
        let known: &[&'static str] = match (era, self.era) {
            (Era::First, EraChoice::Legacy | EraChoice::Both) => &FIRST_ERA,
            (Era::Modern, EraChoice::Modern | EraChoice::Both) => &MODERN_ERA,
            (Era::First, EraChoice::Modern) | (Era::Modern, EraChoice::Legacy) => &[],
        };
        let wanted = |revision: &&&str| {
            self.versions.is_empty() || self.versions.iter().any(|version| version == **revision)
        };
        known.iter().filter(wanted).copied().collect()
    }

    /// Whether it speaks an era at all.
    pub(crate) fn speaks(&self, era: Era) -> bool {
        !self.revisions(era).is_empty()
    }

    /// Whether the reply to this method is the one to spoil.
    pub(crate) fn is_spoilt(&self, method: &str) -> bool {
        self.at == "*" || self.at == method
    }
}
