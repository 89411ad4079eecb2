//! What the client costs beside the limit of each transport, in one run.
//!
//! The limit is a loop of blocking system calls that does nothing but send the same bytes to the
//! same server and wait for as many back. Both run on one core, or what is compared is where the
//! scheduler happens to put them. The program fails if a budget is not kept.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that can't be set up has nothing to say, and prints what it has"
)]

mod client;
mod memory;
mod raw;
mod servers;

use std::process::ExitCode;

use openclaw_testkit::figures::Report;

fn main() -> ExitCode {
    if let Some(result) = openclaw_process::run_if_called() {
        result.expect("the guardian runs");
        return ExitCode::SUCCESS;
    }
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("serve-stdio") => servers::stdio(),
        Some("serve-http") => servers::http(),
        // A server as people write them; its own arguments follow.
        Some("http") => return openclaw_testkit::fake_server::main(),
        // For a profiler: nothing but calls.
        Some("profile") => client::profile(&arguments.next().unwrap_or_default()),
        Some("memory") => memory::measure(&arguments.next().unwrap_or_default()),
        _ => return measure(),
    }
    ExitCode::SUCCESS
}

/// Keeps this process, and all that it starts, on one core.
fn on_one_core() {
    let mut cores = rustix::thread::CpuSet::new();
    cores.set(0);
    rustix::thread::sched_setaffinity(None, &cores).expect("a core");
}

fn measure() -> ExitCode {
    let mut report = Report::default();
    on_one_core();
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
