//! Lines in and out.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `reading` | the thread that reads, where lines end, which can be used | order |
//! | `writing` | the thread that writes | what is written |

mod reading;
mod writing;

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::Lines;
use futures_util::{Sink, Stream, sink, stream};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::reading::Line;
use crate::flow::Flow;

/// How long the line behind the first request waits for its answer.
const GREETING: Duration = Duration::from_secs(5);
/// How the first request is called.
const INITIALIZE: &str = "\"initialize\"";
/// How many lines may come in from an editor that reads nothing.
const UNREAD: u32 = 1024;
/// How long they may be together, in bytes: an answer may repeat what was wrong.
const UNREAD_BYTES: usize = 64 * 1024 * 1024;
/// The code of what can't be understood (JSON-RPC).
const INVALID: i32 = -32602;
/// No first request is longer.
const LONGEST_GREETING: usize = 64 * 1024;

/// How the streams of an editor end.
#[derive(Default)]
pub(crate) struct Ends {
    /// Nothing more comes in.
    pub(crate) hung_up: CancellationToken,
    /// Nothing more can be written.
    pub(crate) broken: CancellationToken,
    /// Everything was written, or can't be.
    pub(crate) written: CancellationToken,
}

/// Starts the threads that read and write.
pub(crate) fn start(
    input: Box<dyn Read + Send>,
    output: Box<dyn Write + Send>,
    flow: Arc<Flow>,
    ends: &Ends,
) -> io::Result<
    Lines<
        impl Sink<String, Error = io::Error> + Send + use<>,
        impl Stream<Item = io::Result<String>> + use<>,
    >,
> {
    let answers = flow.lines();
    let lines = reading::start(input, ends.hung_up.clone())?;
    let writer = writing::start(output, flow, ends.broken.clone(), ends.written.clone())?;
    let incoming = Incoming {
        lines,
        answers,
        writer: writer.clone(),
        since_answer: 0,
        bytes_since_answer: 0,
        greeting: Greeting::ToCome,
    };
    let incoming = stream::unfold(incoming, |mut incoming| async move {
        let line = incoming.next().await?;
        Some((Ok(line), incoming))
    });
    let outgoing = sink::unfold(writer, |writer, line: String| async move {
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        writer.send(line).await.map_err(gone)?;
        Ok(writer)
    });
    Ok(Lines::new(outgoing, incoming))
}

/// What comes in. Behind the first request it stops until that is answered: the protocol refuses everything
/// that comes earlier, and an editor need not wait for the answer to ask more.
struct Incoming {
    lines: mpsc::Receiver<Line>,
    /// How many lines were written.
    answers: watch::Receiver<u64>,
    /// Where they wait.
    writer: mpsc::Sender<String>,
    /// How many lines came since one was written, and how long they are.
    since_answer: u32,
    bytes_since_answer: usize,
    greeting: Greeting,
}

enum Greeting {
    /// It has not come.
    ToCome,
    /// It has come when so many lines were written.
    Open(u64),
    Answered,
}

impl Incoming {
    async fn next(&mut self) -> Option<String> {
        let line = loop {
            match self.lines.recv().await? {
                Line::Text(line) => break line,
                Line::Unusable { id, why } => self.refuse(&id, why).await,
            }
        };
        self.hold_back(line.len()).await;
        if let Greeting::Open(before) = self.greeting {
            let answered = self.answers.wait_for(|written| *written > before);
            // Whoever waits too long is refused, which is an answer, too.
            let _ = timeout(GREETING, answered).await;
            self.greeting = Greeting::Answered;
        }
        if matches!(self.greeting, Greeting::ToCome)
            && line.len() <= LONGEST_GREETING
            && line.contains(INITIALIZE)
        {
            self.greeting = Greeting::Open(*self.answers.borrow());
        }
        Some(line)
    }

    /// Answers a request that can't be read, of which only the number is known.
    async fn refuse(&self, id: &str, why: &str) {
        let why = serde_json::Value::from(why);
        let error = format!(r#"{{"code":{INVALID},"message":{why}}}"#);
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
        // Whoever is gone needs no answer.
        let _ = self.writer.send(answer).await;
    }

    /// Waits for an editor that asks and asks, and does not read: answers wait without limit.
    async fn hold_back(&mut self, bytes: usize) {
        self.since_answer += 1;
        self.bytes_since_answer += bytes;
        if self.answers.has_changed().unwrap_or_default() {
            self.answers.mark_unchanged();
            self.begin_anew();
        }
        while self.is_too_much() && self.writer.capacity() == 0 {
            if self.answers.changed().await.is_err() {
                return;
            }
            self.begin_anew();
        }
    }

    fn is_too_much(&self) -> bool {
        self.since_answer > UNREAD || self.bytes_since_answer > UNREAD_BYTES
    }

    fn begin_anew(&mut self) {
        self.since_answer = 0;
        self.bytes_since_answer = 0;
    }
}
