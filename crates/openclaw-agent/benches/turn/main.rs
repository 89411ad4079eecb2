//! What a turn costs beside the time of its model and its tools, and how fast words are passed on. The
//! program fails if a budget is not kept.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that can't be set up has nothing to say"
)]

mod house;
mod overhead;
mod words;

use std::process::ExitCode;

use openclaw_testkit::figures::Report;

fn main() -> ExitCode {
    if let Some(result) = openclaw_process::run_if_called() {
        result.expect("the guardian runs");
        return ExitCode::SUCCESS;
    }
    if std::env::args().nth(1).as_deref() == Some("stdio") {
        return openclaw_testkit::fake_server::main();
    }
    let mut report = Report::default();
    overhead::measure(&mut report);
    words::measure(&mut report);
    if report.is_kept() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
