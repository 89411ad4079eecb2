//! The ways in: callers of the socket, and texts.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use openclaw_engine::{Engine, EngineFailure};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::desk::{self, Incoming, Outlet, Terms};
use crate::frames::LONGEST_FRAME;
use crate::greeting::{self, Greeting, LONGEST_GREETING, PROTOCOL};
use crate::outbox::{Framing, Outgoing, encode};
use crate::socket::{Reading, Socket, Spot, Stream, Writing};

/// How long both sides have to say who they are.
pub(crate) const GREETING_TIME: Duration = Duration::from_secs(2);

/// How many bytes may wait to be read by a caller who reads nothing; for one who does, a few times that.
/// Beyond it he is cut off.
pub(crate) const OUTBOX: usize = 64 << 20;
/// The same for whoever is answered in texts: they can come from another machine.
const TEXT_OUTBOX: usize = 32 << 20;

/// How many bytes the questions of a caller may have that are under way.
const QUESTIONS: usize = LONGEST_FRAME;
/// The same for questions in texts.
const TEXT_QUESTIONS: usize = 64 << 20;

/// How many bytes a text may have that waits beside others.
const SMALL_TEXT: usize = 64 << 10;

/// How long a reader of texts may take for the next one.
const TEXT_STALL: Duration = Duration::from_mins(1);

/// What callers of a gateway get.
pub struct Service {
    /// What is asked.
    pub engine: Arc<dyn Engine>,
    /// What is said first.
    pub greeting: Greeting,
    /// Has the gateway stop.
    pub stop: Box<dyn Fn() + Send + Sync>,
}

/// The socket of a gateway, in its state directory. It is gone when this is dropped.
pub struct Listener(Socket);

/// Where a gateway listens, to be looked at.
#[derive(Clone, Debug)]
pub struct ListeningAt(Spot);

impl ListeningAt {
    /// Whether the file of the socket is gone: whoever tidied up may have deleted it, which nobody is told of
    /// who listens at it. One that somebody else has put there is there.
    pub fn is_gone(&self) -> bool {
        self.0.is_empty()
    }

    /// Listens there once more, beside the one that does, which nobody finds from then on. It is called where there is
    /// a runtime.
    pub fn listen(&self) -> io::Result<Listener> {
        self.0.listen().map(Listener)
    }
}

/// Somebody who has called.
pub struct Caller(Stream);

impl Listener {
    /// Listens in a state directory. Whoever calls this holds the lock of the gateway: a socket that is
    /// there was left behind. It is called where there is a runtime.
    pub fn bind(state: &Path) -> io::Result<Self> {
        Socket::bind(state).map(Self)
    }

    /// Where it listens.
    pub fn place(&self) -> ListeningAt {
        ListeningAt(self.0.spot())
    }

    /// Waits for the next caller. Other users of the machine are turned away.
    pub async fn accept(&self) -> io::Result<Caller> {
        self.0.accept().await.map(Caller)
    }
}

impl Caller {
    /// Answers until the caller has gone.
    pub async fn serve(self, service: Arc<Service>) {
        let (mut reading, mut writing) = self.0.split();
        let greeted = timeout(
            GREETING_TIME,
            greet(&mut reading, &mut writing, &service.greeting),
        );
        match greeted.await {
            Ok(Ok(())) => {}
            Ok(Err(reason)) => {
                tracing::debug!(reason, "a caller is turned away");
                return;
            }
            Err(_) => {
                tracing::debug!("a caller says nothing and is turned away");
                return;
            }
        }
        let terms = Terms {
            engine: Arc::clone(&service.engine),
            stop: Some(Box::new(move || (service.stop)())),
            framing: Framing::Length,
            outbox: OUTBOX,
            longest: LONGEST_FRAME,
            questions: QUESTIONS,
        };
        desk::serve(terms, reading, writing).await;
    }
}

/// Says who we are to a caller who has said who he is.
async fn greet(
    reading: &mut Reading,
    writing: &mut Writing,
    greeting: &Greeting,
) -> Result<(), &'static str> {
    let said = reading.frame(LONGEST_GREETING).await;
    let said = said.map_err(|_| "what it says first can't be read")?;
    let said = said.ok_or("it has gone")?;
    let protocol = greeting::read_command(&said).ok_or("it does not say what it is")?;
    let hello = encode(
        Framing::Length,
        LONGEST_GREETING,
        &greeting::gateway_says(greeting),
    );
    let hello = hello.map_err(|_| "the greeting can't be written")?;
    let written = writing.bytes(&hello, &[]).await;
    written.map_err(|_| "it does not read the greeting")?;
    // It has read which version is here, and says what to do.
    if protocol == PROTOCOL {
        Ok(())
    } else {
        Err("it speaks another version")
    }
}

/// Answers what is asked in texts, one message each, until there is nothing more to read or nobody who
/// reads the answers.
///
/// Both channels are bounded by whoever makes them. A peer that takes nothing for a minute, or for whom
/// more waits than is kept, is left: both channels are closed then. An answer of more than `longest`
/// bytes is not sent; whoever asked is told so instead.
pub async fn serve_texts(
    engine: Arc<dyn Engine>,
    incoming: mpsc::Receiver<String>,
    outgoing: mpsc::Sender<String>,
    longest: usize,
) {
    let terms = Terms {
        engine,
        stop: None,
        framing: Framing::Bare,
        outbox: TEXT_OUTBOX,
        longest,
        questions: TEXT_QUESTIONS,
    };
    desk::serve(terms, TextsIn(incoming), TextsOut(outgoing)).await;
}

/// Puts a text into a channel when there is a place for it; `false` if nobody takes any more. A text that is
/// large takes all places, so that a channel with many holds many texts, and never much.
pub async fn hand_over(channel: &mpsc::Sender<String>, text: String) -> bool {
    let places = if text.len() > SMALL_TEXT {
        channel.max_capacity()
    } else {
        1
    };
    match channel.reserve_many(places).await {
        Ok(mut reserved) => {
            if let Some(place) = reserved.next() {
                place.send(text);
            }
            true
        }
        Err(_) => false,
    }
}

struct TextsIn(mpsc::Receiver<String>);

impl Incoming for TextsIn {
    async fn next(&mut self) -> Result<Option<Bytes>, EngineFailure> {
        Ok(self.0.recv().await.map(Bytes::from))
    }

    fn files(&mut self, _count: usize) -> Option<Vec<Arc<File>>> {
        None
    }
}

struct TextsOut(mpsc::Sender<String>);

impl Outlet for TextsOut {
    async fn write(&mut self, message: &mut Outgoing) -> bool {
        let bytes = std::mem::take(&mut message.bytes);
        let Ok(text) = String::from_utf8(bytes) else {
            return false;
        };
        matches!(
            timeout(TEXT_STALL, hand_over(&self.0, text)).await,
            Ok(true)
        )
    }

    async fn gone(&self) {
        self.0.closed().await;
    }
}

impl Incoming for Reading {
    async fn next(&mut self) -> Result<Option<Bytes>, EngineFailure> {
        match self.frame(LONGEST_FRAME).await {
            Ok(message) => Ok(message),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                let message = format!("a message can't be taken: {error}");
                Err(EngineFailure::asker("bad-message", message))
            }
            Err(error) => {
                tracing::debug!(%error, "a caller can't be read from");
                Ok(None)
            }
        }
    }

    fn files(&mut self, count: usize) -> Option<Vec<Arc<File>>> {
        self.take_files(count)
    }
}

impl Outlet for Writing {
    async fn write(&mut self, message: &mut Outgoing) -> bool {
        let written = self.bytes(&message.bytes, &message.files).await;
        // The other side has descriptors of its own now.
        message.files.clear();
        match written {
            Ok(()) => true,
            Err(error) => {
                tracing::debug!(%error, "a peer can't be written to");
                false
            }
        }
    }

    async fn gone(&self) {
        // Whoever reads from the stream notices.
        std::future::pending::<()>().await;
    }
}
