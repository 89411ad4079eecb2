//! What the way of a call costs beside the bare client, and what many tools, callers and servers
//! cost, each in the same run as what it is compared with. The program fails if a budget is not
//! kept.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that can't be set up has nothing to say"
)]

mod assembly;
mod callers;
mod echo;
mod house;
mod memory;
mod search;

use std::process::ExitCode;

use openclaw_testkit::figures::Report;

fn main() -> ExitCode {
    if let Some(result) = openclaw_process::run_if_called() {
        result.expect("the guardian runs");
        return ExitCode::SUCCESS;
    }
    match std::env::args().nth(1).as_deref() {
        Some("stdio") => return openclaw_testkit::fake_server::main(),
        Some("memory") => {
            memory::measure();
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let mut report = Report::default();
    echo::measure(&mut report);
    assembly::measure(&mut report);
    search::measure(&mut report);
    callers::measure(&mut report);
    memory::report(&mut report);
    if report.is_kept() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
