//! The process that the program is: signals, floods, what it starts, and its end.

use std::io::{self, Write};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use serde_json::json;

use super::leak;
use super::options::Mode;
use super::server::Server;

/// Does what the flags ask before anything is read.
pub(crate) fn begin(server: &Arc<Server>) -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let details = json!({"pid": std::process::id(), "arguments": arguments});
    if server.options.mode != Mode::Grandchild {
        server.journal.record("started", details);
        let faults = &server.options.process;
        if faults.grandchild || faults.grandchild_setsid || faults.grandchild_silent {
            start_grandchild(server)?;
        }
        flood_stderr(faults.flood_stderr)?;
        if faults.leak {
            complain(&leak::words(None));
        }
    }
    watch_signals(server)
}

/// The options of this process; where they are help or a mistake, that is told, and how to end.
pub(crate) fn options<O: Parser>() -> Result<O, ExitCode> {
    O::try_parse().map_err(|error| {
        // Nobody is left to tell if that fails.
        let _ = error.print();
        if error.use_stderr() {
            ExitCode::from(2)
        } else {
            ExitCode::SUCCESS
        }
    })
}

/// Ends the process after so long, whatever else it does.
pub(crate) fn end_after(seconds: u64) {
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(seconds));
        complain("fake-mcp-server: ends because it has lived too long");
        exit(4);
    });
}

/// Ends the process at once.
pub(crate) fn leave(server: &Server, code: i32) -> ! {
    server.journal.record("exiting", json!({"code": code}));
    exit(code)
}

#[expect(
    clippy::exit,
    reason = "to end in the middle of things is what it is for"
)]
fn exit(code: i32) -> ! {
    std::process::exit(code)
}

/// Writes a line to standard error.
pub(crate) fn complain(line: &str) {
    // Nobody is left to tell if that fails.
    let _ = writeln!(io::stderr(), "{line}");
}

fn flood_stderr(bytes: usize) -> io::Result<()> {
    let line = [b'e'; 99];
    let mut stderr = io::stderr().lock();
    let mut left = bytes;
    while left > 0 {
        let length = left.min(100);
        stderr.write_all(&line[..length - 1])?;
        stderr.write_all(b"\n")?;
        left -= length;
    }
    Ok(())
}

/// Starts a process that ignores SIGTERM: this program, so that it carries the same marker.
pub(crate) fn start_grandchild(server: &Server) -> io::Result<u32> {
    let faults = &server.options.process;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("grandchild").arg("--ignore-term");
    if let Some(marker) = &server.options.marker {
        command.args(["--marker", marker]);
    }
    command.args(["--lifetime", &server.options.lifetime.to_string()]);
    if faults.grandchild_setsid {
        command.arg("--grandchild-setsid");
    }
    if faults.grandchild_silent {
        command.stdin(Stdio::null());
        command.stdout(Stdio::null());
        command.stderr(Stdio::null());
    }
    let child = command.spawn()?;
    let details = json!({"pid": child.id()});
    server.journal.record("started a grandchild", details);
    Ok(child.id())
}

/// Is the process that `--grandchild` starts: it stays until it is killed or has lived too long.
pub(crate) async fn be_a_grandchild(server: &Server) -> io::Result<ExitCode> {
    #[cfg(unix)]
    if server.options.process.grandchild_setsid {
        rustix::process::setsid()?;
    }
    #[cfg(not(unix))]
    let _ = server;
    std::future::pending().await
}

#[cfg(unix)]
fn watch_signals(server: &Arc<Server>) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let signals = [
        ("TERM", SignalKind::terminate(), 143),
        ("INT", SignalKind::interrupt(), 130),
        ("HUP", SignalKind::hangup(), 129),
    ];
    for (name, kind, code) in signals {
        let mut arrivals = signal(kind)?;
        let server = Arc::clone(server);
        tokio::spawn(async move {
            while arrivals.recv().await.is_some() {
                server.journal.note(&format!("signal {name} received"));
                if !server.options.process.ignore_term {
                    leave(&server, code);
                }
            }
        });
    }
    Ok(())
}

#[cfg(not(unix))]
fn watch_signals(_server: &Arc<Server>) -> io::Result<()> {
    Ok(())
}
