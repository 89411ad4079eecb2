//! What the client costs beside the limit of each transport, in one run.
//!
//! The limit is a loop of blocking system calls that does nothing but send the same bytes to the
//! same server and wait for as many back. Every figure has a budget, and the program fails if one
//! is not kept.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that can't be set up has nothing to say, and prints what it has"
)]

mod client;
mod memory;
mod raw;
mod servers;
mod statistics;

use std::process::ExitCode;

use statistics::Report;

fn main() -> ExitCode {
    if let Some(result) = openclaw_process::run_if_called() {
        result.expect("the guardian runs");
        return ExitCode::SUCCESS;
    }
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("serve-stdio") => servers::stdio(),
        Some("serve-http") => servers::http(),
        Some("memory") => memory::measure(&arguments.next().unwrap_or_default()),
        _ => return measure(),
    }
    ExitCode::SUCCESS
}

fn measure() -> ExitCode {
    let mut report = Report::default();
    client::echo_over_pipes(&mut report);
    client::echo_over_http(&mut report);
    client::connecting(&mut report);
    memory::report(&mut report);
    if report.is_kept() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
