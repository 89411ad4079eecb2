//! The fake server and the guardian that starts it, for the tests of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    match openclaw_process::run_if_called() {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(_)) => ExitCode::FAILURE,
        None => openclaw_testkit::fake_server::main(),
    }
}
