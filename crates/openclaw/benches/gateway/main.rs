//! What the gateway costs: a call over its HTTP beside the bare pipe and beside other gateways on the
//! same server, a call of a command, its start, its memory, and what it does when nobody asks. The
//! program fails if a budget is not kept.
//!
//! `scripts/bench gateway` installs what this needs. With `OPENCLAW_BENCH_PAGE`, what was measured is
//! written to that file, as Markdown.

#![cfg_attr(
    target_os = "linux",
    expect(
        clippy::expect_used,
        reason = "a benchmark that can't be set up has nothing to say"
    )
)]

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod commands;
#[cfg(target_os = "linux")]
mod conversation;
#[cfg(target_os = "linux")]
mod crowd;
#[cfg(target_os = "linux")]
mod gateway;
#[cfg(target_os = "linux")]
mod http2;
#[cfg(target_os = "linux")]
mod keep_alive;
#[cfg(target_os = "linux")]
mod least;
#[cfg(target_os = "linux")]
mod peers;
#[cfg(target_os = "linux")]
mod pipe;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod sheet;
#[cfg(target_os = "linux")]
mod start;
#[cfg(target_os = "linux")]
mod ways;
#[cfg(target_os = "linux")]
mod websocket;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        // This program is the server that costs next to nothing, too.
        Some("stdio") => return openclaw_testkit::fake_server::main(),
        Some(least::ARGUMENT) => return least::main(),
        _ => {}
    }
    let mut sheet = sheet::Sheet::default();
    start::measure(&mut sheet);
    calls::measure(&mut sheet);
    commands::measure(&mut sheet);
    crowd::measure(&mut sheet);
    sheet.finish()
}

/// What is measured is read from `/proc`.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    openclaw_testkit::figures::Report::say("the gateway", "only on Linux");
    ExitCode::SUCCESS
}
