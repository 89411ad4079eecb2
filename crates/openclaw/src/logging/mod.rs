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
pub(crate) fn start(level: LogLevel, format: LogFormat, state: Option<&Path>, redactor: &Redactor) {
    let level = LevelFilter::from(level);
    let stderr_filter = Targets::new()
        .with_default(level)
        .with_target(FILE_ONLY, LevelFilter::OFF);
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
            .with_filter(level.max(LevelFilter::INFO))
    });
    // A second start, in tests, keeps the first.
    let _ = tracing_subscriber::registry()
        .with(stderr)
        .with(file)
        .try_init();
}
