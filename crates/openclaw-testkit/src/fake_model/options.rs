//! What the program is told on its command line.

use std::path::PathBuf;

use clap::Parser;

/// A fake service of models: keeps what it is asked, and answers a text in the protocol of the path.
#[derive(Debug, Parser)]
#[command(name = "fake-model-server", disable_version_flag = true)]
pub(crate) struct Options {
    /// Keeps the body of each request here, as `0001.json` and so on: there once it is whole
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) record: Option<PathBuf>,
    /// What every request is answered
    #[arg(long, value_name = "TEXT", default_value = "fine")]
    pub(crate) reply: String,
    /// Writes the port to this file, beside the line on standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) port_file: Option<PathBuf>,
    /// The port to listen on, on 127.0.0.1; 0 lets the system choose
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// Appends a JSON line for every request
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// Ignored; lets tests find the process by its command line
    #[arg(long, value_name = "TEXT")]
    pub(crate) marker: Option<String>,
    /// Ends after so long, so that no test leaves it behind for ever
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub(crate) lifetime: u64,
}
