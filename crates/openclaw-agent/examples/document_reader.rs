//! The reader of documents, for the tests of this crate. It is a program of its own: the examples of all
//! crates lie in one directory, and the fake server of another one would take the place of this.

use std::process::ExitCode;

fn main() -> ExitCode {
    openclaw_media::run_if_called().unwrap_or(ExitCode::FAILURE)
}
