//! Writes messages as lines, and everything that does not belong between them.

use std::io::{self, StdoutLock, Write};
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::fake_server::outlet::Frame;
use crate::fake_server::server::Server;
use crate::fake_server::{dispatch, process};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The owner of standard output.
pub(super) struct Writer {
    server: Arc<Server>,
    wrote: bool,
    replied: bool,
}

impl Writer {
    pub(super) fn new(server: &Arc<Server>) -> Self {
        Self {
            server: Arc::clone(server),
            wrote: false,
            replied: false,
        }
    }

    /// Writes until there is nothing more to come.
    pub(super) fn run(mut self, mut frames: mpsc::Receiver<Frame>) {
        let mut stdout = io::stdout().lock();
        while let Some(frame) = frames.blocking_recv() {
            if frame.is_last() {
                break;
            }
            if let Err(error) = self.write(&mut stdout, &frame) {
                self.server.journal.note(&format!("stdout closed: {error}"));
                if !self.server.options.framing.ignore_eof {
                    process::leave(&self.server, 1);
                }
            }
        }
    }

    fn write(&mut self, stdout: &mut StdoutLock<'_>, frame: &Frame) -> io::Result<()> {
        let server = Arc::clone(&self.server);
        let faults = &server.options.framing;
        let end: &[u8] = if faults.crlf { b"\r\n" } else { b"\n" };
        if faults.bom && !self.wrote {
            stdout.write_all(BYTE_ORDER_MARK)?;
        }
        self.wrote = true;
        if let Some(method) = &frame.reply_to {
            if !self.replied {
                for index in 0..faults.flood_stdout {
                    write!(stdout, "noise number {index} that is no JSON")?;
                    stdout.write_all(end)?;
                }
            }
            if faults.noise {
                for line in noise(!self.replied) {
                    stdout.write_all(line.as_bytes())?;
                    stdout.write_all(end)?;
                }
            }
            self.replied = true;
            if server.options.is_spoilt(method) {
                self.spoil(stdout, frame)?;
            }
        }
        stdout.write_all(&frame.bytes)?;
        stdout.write_all(end)?;
        stdout.flush()?;
        let reply_to = frame.reply_to.as_deref().unwrap_or_default();
        if dispatch::is_last_reply(&server, reply_to) {
            process::leave(&server, 1);
        }
        Ok(())
    }

    /// Writes the faults that replace a reply; they do not return.
    fn spoil(&self, stdout: &mut StdoutLock<'_>, frame: &Frame) -> io::Result<()> {
        let faults = &self.server.options.framing;
        if faults.exit_mid_line {
            stdout.write_all(&frame.bytes[..frame.bytes.len() / 2])?;
            stdout.flush()?;
            process::leave(&self.server, 1);
        }
        if faults.endless_line {
            let piece = [b'x'; 8192];
            loop {
                stdout.write_all(&piece)?;
                stdout.flush()?;
            }
        }
        Ok(())
    }
}

/// What programs print that know no better.
fn noise(is_first: bool) -> &'static [&'static str] {
    if is_first {
        &[
            "Fake MCP server starting up...",
            "",
            "   ",
            "[debug] listening for messages on stdin",
            "\u{1b}[32mready\u{1b}[0m",
            "{ not: json }",
        ]
    } else {
        &["", "[debug] about to answer", "undefined", "{"]
    }
}
