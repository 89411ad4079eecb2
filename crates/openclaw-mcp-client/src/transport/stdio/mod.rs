//! A server in a program of our own, spoken to over its standard streams.

mod reader;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use openclaw_process::{Process, ProcessInput, ProcessOutput, StderrTail};
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use self::reader::{Line, LineReader};
use self::writer::{LineWriter, WriteError};
use crate::tasks::OwnedTask;
use crate::traffic::{Inbound, Lost, Outbox, Source};

/// How long a program that closed its output may take to end before it is ended.
const LEAVING: Duration = Duration::from_secs(1);
/// How long what it started may keep its last words from being read to their end.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// Whether a connection is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Open,
    /// It is gone, for this reason; what is left of it may still be ending.
    Closed(Arc<str>),
    /// Nothing is left of it.
    Gone(Arc<str>),
}

/// A program that is spoken to. Dropping it ends the program and everything it started.
pub(crate) struct Stdio {
    writer: Arc<LineWriter<ProcessInput>>,
    pid: u32,
    stderr: StderrTail,
    stop: Arc<Notify>,
    presence: watch::Receiver<Presence>,
    _keeper: OwnedTask,
}

impl Stdio {
    /// Speaks to a program; one that does not read for `patience` is given up on.
    pub(crate) fn new(
        mut process: Process,
        input: ProcessInput,
        output: ProcessOutput,
        inbound: Arc<Inbound>,
        patience: Duration,
    ) -> Self {
        let writer = LineWriter::new(input);
        let outbox: Arc<dyn Outbox> = writer.clone();
        let stop = Arc::new(Notify::new());
        let (publish, presence) = watch::channel(Presence::Open);
        let pid = process.pid();
        let stderr = process.stderr().clone();
        let keeper = {
            let (writer, stop) = (writer.clone(), stop.clone());
            OwnedTask::spawn(async move {
                // Whatever happens to this task, nobody waits for ever.
                let _closing = Closing(&inbound);
                let reason: Arc<str> = tokio::select! {
                    end = read(output, &inbound, &outbox) => match end {
                        Reading::Endless => "it sends a message without end".into(),
                        Reading::Ended(reason) => match timeout(LEAVING, process.wait()).await {
                            Ok(end) => {
                                // Why it ended stands there, for all who hear that it did.
                                tokio::select! {
                                    _ = timeout(LAST_WORDS, process.stderr().ended()) => {}
                                    () = stop.notified() => {}
                                }
                                format!("its program ended ({end})").into()
                            }
                            Err(_) => reason.into(),
                        },
                    },
                    reason = write(&writer, patience) => reason.into(),
                    () = stop.notified() => "it was disconnected".into(),
                };
                inbound.in_flight.close(&reason);
                publish.send_replace(Presence::Closed(reason.clone()));
                writer.close();
                let end = process.stop().await;
                tracing::info!(server = %inbound.server, pid, "server stopped: {reason} ({end})");
                publish.send_replace(Presence::Gone(reason));
            })
        };
        Self {
            writer,
            pid,
            stderr,
            stop,
            presence,
            _keeper: keeper,
        }
    }

    /// Sends a message, waiting for room as long as the caller likes; an error says why it was
    /// not sent.
    pub(crate) async fn send(&self, message: &Bytes) -> Result<(), String> {
        let Err(error) = self.writer.write(message).await else {
            return Ok(());
        };
        // Why the program has gone is known a moment later than that it has.
        let mut presence = self.presence.clone();
        let closed = presence.wait_for(|presence| *presence != Presence::Open);
        match timeout(LEAVING * 2, closed).await {
            Ok(Ok(presence)) => match &*presence {
                Presence::Closed(reason) | Presence::Gone(reason) => Err(reason.to_string()),
                Presence::Open => Err(error.to_string()),
            },
            Ok(Err(_)) | Err(_) => Err(error.to_string()),
        }
    }

    /// Sends a message soon that matters more than an answer.
    pub(crate) fn send_soon(&self, message: &Bytes) {
        self.writer.write_soon(message);
    }

    /// The number of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// The last lines of its standard error.
    pub(crate) fn stderr(&self) -> &StderrTail {
        &self.stderr
    }

    /// Whether it is there, now and later.
    pub(crate) fn presence(&self) -> watch::Receiver<Presence> {
        self.presence.clone()
    }

    /// Ends the program and everything it started, and waits for it.
    pub(crate) async fn close(&self) {
        self.stop.notify_one();
        let mut presence = self.presence.clone();
        // An error means that the keeper is gone, and the program with it.
        let _ = presence
            .wait_for(|presence| matches!(presence, Presence::Gone(_)))
            .await;
    }
}

/// Tells all who wait that the connection is gone, unless they were told why.
struct Closing<'a>(&'a Inbound);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.in_flight.close("it was disconnected");
    }
}

/// How reading ended.
enum Reading {
    /// There was no more to read, for a reason that the end of the program may explain better.
    Ended(&'static str),
    /// There was no end to a message.
    Endless,
}

/// Reads until the end, and says how it came.
async fn read(output: ProcessOutput, inbound: &Arc<Inbound>, outbox: &Arc<dyn Outbox>) -> Reading {
    let mut reader = LineReader::new(output);
    loop {
        match reader.next().await {
            Line::Whole(line) => {
                if !line.trim_ascii().is_empty() {
                    inbound.receive(&line, Source::Shared, outbox);
                }
            }
            Line::TooLong(id) => {
                inbound.pass_over("a message", &"it is larger than 80 MiB");
                inbound.in_flight.deliver(id, Err(Lost::TooLarge));
            }
            Line::Endless => return Reading::Endless,
            Line::End { cut: true } => {
                return Reading::Ended("it stopped in the middle of a message");
            }
            Line::End { cut: false } => return Reading::Ended("it closed its output"),
        }
    }
}

/// Writes what waits until that can't be done any more, and says why.
async fn write(writer: &LineWriter<ProcessInput>, patience: Duration) -> &'static str {
    match writer.flush(patience).await {
        WriteError::Full => "it does not read what it is sent",
        WriteError::Closed => {
            // Its last answers may still be on their way.
            sleep(LEAVING).await;
            "it closed its input"
        }
    }
}
