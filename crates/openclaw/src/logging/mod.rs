//! Where log lines go: to stderr for the person, to a file for later; secrets to neither.

mod file;
mod writer;

use std::path::Path;

use clap::ValueEnum;
use openclaw_secrets::Redactor;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::logging::writer::{FileSink, StderrSink};

/// The target of lines that a person has seen in another form.
pub(crate) const FILE_ONLY: &str = "openclaw::told";

/// How the targets of our own lines begin.
const OURS: &str = "openclaw";

/// Where lines come from that repeat what was said to us, whatever it is.
const VERBATIM: [&str; 3] = ["rmcp", "agent_client_protocol", "h2"];

/// Where lines about what servers and models say and do come from: a person is told of it in another
/// form, or has not asked.
const OTHERS: [&str; 7] = [
    "openclaw_agent",
    "openclaw_mcp",
    "openclaw_mcp_client",
    "openclaw_models",
    "openclaw_process",
    "openclaw_sessions",
    "openclaw_telemetry",
];

/// How much is told on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Trace => Self::TRACE,
        }
    }
}

/// The form of log lines on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Human,
    /// One JSON object a line.
    Json,
}

/// Starts logging to stderr and, from the first line that belongs there, to the state directory.
///
/// Unless somebody asks for more, what servers and models say and do is only for the file: a
/// person who runs a command wants to see its result. `is_verbose` asks for all that we do ourselves, and
/// not for what libraries do. Where somebody types, nothing may be written in
/// between, so that all of it is only for the file.
pub(crate) fn start(
    level: Option<LogLevel>,
    is_verbose: bool,
    is_typed_on: bool,
    format: LogFormat,
    state: Option<&Path>,
    redactor: &Redactor,
) {
    let mut stderr_filter = Targets::new()
        .with_target(FILE_ONLY, LevelFilter::OFF)
        .with_targets(VERBATIM.map(|target| (target, LevelFilter::OFF)));
    if level.is_none() && is_verbose {
        stderr_filter = stderr_filter.with_target(OURS, LevelFilter::DEBUG);
    } else if level.is_none() {
        let others = OTHERS.map(|target| (target, LevelFilter::ERROR));
        stderr_filter = stderr_filter.with_targets(others);
    }
    let is_silent = is_typed_on && level.is_none();
    let level = level.map_or(LevelFilter::WARN, LevelFilter::from);
    let stderr_filter = if is_silent {
        Targets::new().with_default(LevelFilter::OFF)
    } else {
        stderr_filter.with_default(level)
    };
    let stderr = StderrSink::new(redactor);
    let stderr = match format {
        LogFormat::Human => tracing_subscriber::fmt::layer()
            .with_writer(stderr)
            .with_ansi(
                anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never,
            )
            .with_target(level >= LevelFilter::DEBUG)
            .boxed(),
        LogFormat::Json => tracing_subscriber::fmt::layer()
            .json()
            .with_writer(stderr)
            .boxed(),
    }
    .with_filter(stderr_filter);
    let file = state.map(|state| {
        tracing_subscriber::fmt::layer()
            .json()
            .with_writer(FileSink::new(state, redactor))
            .with_filter(
                Targets::new()
                    .with_default(level.max(LevelFilter::INFO))
                    .with_targets(VERBATIM.map(|target| (target, LevelFilter::ERROR))),
            )
    });
    // A second start, in tests, keeps the first.
    let _ = tracing_subscriber::registry()
        .with(stderr)
        .with(file)
        .try_init();
}
