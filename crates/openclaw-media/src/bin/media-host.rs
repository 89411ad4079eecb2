//! A program for tests: the guardian and the reader of documents, as `openclaw` is.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = openclaw_media::run_if_called() {
        return code;
    }
    match openclaw_process::run_if_called() {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(_)) | None => ExitCode::FAILURE,
    }
}
