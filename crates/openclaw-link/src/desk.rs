//! One peer that asks: its questions under way, and what the person behind it is asked.

mod audience;
mod under_way;
mod watcher;

use std::fs::File;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use openclaw_engine::{Engine, EngineFailure};
use openclaw_telemetry::{TraceContext, within};
use serde::Serialize;
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;

use self::audience::{DistantAudience, Questions};
use self::under_way::{Ticket, UnderWay};
use self::watcher::DistantWatcher;
use crate::messages::{Answering, Message, Notice};
use crate::outbox::{Framing, NotTaken, Outbox, Outgoing};
use crate::questions::{self, REPLY, STOP, WATCH};
use crate::requests::TravellingRequest;

/// How long a peer that is shown the door has to read why.
const PARTING: Duration = Duration::from_secs(2);

/// Where what a peer says comes from.
pub(crate) trait Incoming: Send {
    /// The next message; none when the peer is gone. Nothing is lost when this is dropped.
    fn next(&mut self) -> impl Future<Output = Result<Option<Bytes>, EngineFailure>> + Send;
    /// The files that came with the last message; none if it is not exactly so many.
    fn files(&mut self, count: usize) -> Option<Vec<Arc<File>>>;
}

/// Where what a peer hears goes to.
pub(crate) trait Outlet: Send {
    /// Writes a message; `false` when the peer is gone.
    fn write(&mut self, message: &mut Outgoing) -> impl Future<Output = bool> + Send;
    /// Waits until it is certain that nobody reads any longer, where that can be known.
    fn gone(&self) -> impl Future<Output = ()> + Send;
}

/// What a peer can ask, and how much of it.
pub(crate) struct Terms {
    /// What is asked.
    pub(crate) engine: Arc<dyn Engine>,
    /// Has the gateway stop, where the peer may.
    pub(crate) stop: Option<Box<dyn Fn() + Send + Sync>>,
    /// How messages are told apart.
    pub(crate) framing: Framing,
    /// How many bytes may wait to be read by the peer.
    pub(crate) outbox: usize,
    /// How many bytes one message to the peer may have.
    pub(crate) longest: usize,
    /// How many bytes the questions under way may have.
    pub(crate) questions: usize,
}

/// Answers a peer until it is gone.
pub(crate) async fn serve(terms: Terms, mut incoming: impl Incoming, outlet: impl Outlet) {
    let outbox = Arc::new(Outbox::new(terms.framing, terms.outbox, terms.longest));
    let mut desk = Desk {
        under_way: Arc::new(UnderWay::new(terms.questions)),
        engine: terms.engine,
        stop: terms.stop,
        outbox: Arc::clone(&outbox),
        tasks: JoinSet::new(),
    };
    let mut writing = pin!(write(&outbox, outlet));
    let garbage = tokio::select! {
        garbage = desk.listen(&mut incoming) => garbage,
        () = &mut writing => None,
        () = outbox.until_cut() => None,
    };
    // Whatever is under way ends with the peer.
    drop(desk);
    if let Some(failure) = garbage {
        let message = Notice::Error {
            id: None,
            failure: &failure,
        };
        let told = outbox.tell(&message);
        outbox.finish();
        if told.is_ok() && timeout(PARTING, writing).await.is_err() {
            tracing::debug!("a peer did not read why it is shown the door");
        }
    }
    outbox.cut();
}

/// Writes what waits until nothing more comes or nobody reads.
pub(crate) async fn write(outbox: &Outbox, mut outlet: impl Outlet) {
    loop {
        let next = tokio::select! {
            next = outbox.next() => next,
            () = outlet.gone() => None,
        };
        let Some(mut message) = next else {
            return;
        };
        if !outlet.write(&mut message).await {
            return;
        }
        outbox.written(&message);
    }
}

struct Desk {
    engine: Arc<dyn Engine>,
    stop: Option<Box<dyn Fn() + Send + Sync>>,
    outbox: Arc<Outbox>,
    under_way: Arc<UnderWay>,
    tasks: JoinSet<()>,
}

impl Desk {
    /// Takes what the peer says until it is gone, or until it says what nobody understands.
    async fn listen(&mut self, incoming: &mut impl Incoming) -> Option<EngineFailure> {
        loop {
            tokio::select! {
                said = incoming.next() => {
                    let text = match said {
                        Ok(Some(text)) => text,
                        Ok(None) => return None,
                        Err(failure) => return Some(failure),
                    };
                    let taken = match Message::read(&text) {
                        Ok(message) => self.take(message, text.len(), incoming),
                        Err(error) => Err(garbage(&error.to_string())),
                    };
                    if let Err(failure) = taken {
                        return Some(failure);
                    }
                }
                Some(ended) = self.tasks.join_next() => {
                    if let Err(error) = ended {
                        self.fell_over(&error);
                    }
                }
            }
        }
    }

    /// Takes a message. What can't be used is answered, or else is an error that ends everything.
    fn take(
        &mut self,
        message: Message,
        size: usize,
        incoming: &mut impl Incoming,
    ) -> Result<(), EngineFailure> {
        match (message.kind.as_str(), message.id) {
            ("ask", Some(id)) => {
                let files = match message.files {
                    0 => Ok(Vec::new()),
                    count => incoming.files(count).ok_or_else(lost_files),
                };
                let name = message.question_name();
                let name = name.ok_or_else(|| garbage("`question` is not a name"))?;
                match files {
                    Ok(files) => {
                        let asked = AskedOf {
                            question: name,
                            with: message.body,
                            files,
                            trace: message.trace,
                        };
                        self.ask(id, asked, size);
                    }
                    Err(failure) => self.fail(id, &failure),
                }
            }
            ("cancel", Some(id)) => self.under_way.cancel(id),
            ("answer", Some(id)) => self.answer(id, &message),
            ("ask" | "cancel" | "answer", None) => return Err(garbage("it has no `id`")),
            // A peer of a later version may say more than is known here.
            (_, Some(id)) => {
                let message = "the gateway does not know this type of message";
                self.fail(id, &EngineFailure::asker("unknown-message", message));
            }
            (_, None) => tracing::debug!("a message of an unknown type is passed over"),
        }
        Ok(())
    }

    fn ask(&mut self, id: u64, asked: AskedOf, size: usize) {
        let AskedOf {
            question,
            with,
            files,
            trace,
        } = asked;
        if let (STOP, Some(stop)) = (question.as_str(), &self.stop) {
            stop();
            self.tell(&Answering::Done { id, report: &() });
            return;
        }
        let Self {
            engine,
            outbox,
            under_way,
            tasks,
            ..
        } = self;
        let begun = under_way.begin(id, size, |ticket, questions| {
            let reporter = Reporter {
                ticket,
                outbox: Arc::clone(outbox),
                under_way: Arc::clone(under_way),
            };
            let engine = Arc::clone(engine);
            tasks.spawn(async move {
                let put = Put {
                    engine: &*engine,
                    questions: &questions,
                    reporter: &reporter,
                };
                let answered = put.question(&question, with, files);
                if let Err(failure) = within(trace, answered).await {
                    reporter.fail(&failure).await;
                }
            })
        });
        if let Err(refused) = begun {
            self.fail(id, &refused.failure());
        }
    }

    /// Hands on what the person says.
    fn answer(&self, id: u64, message: &Message) {
        // Nobody waits for it any longer: it was under way when the question was withdrawn.
        let Some(questions) = self.under_way.questions(id) else {
            return;
        };
        let taken = match (message.question_number(), message.said()) {
            (Some(number), Some(said)) => questions.answered(number, said),
            _ => false,
        };
        if !taken {
            let message = "the answer does not fit the question to the person";
            let failure = EngineFailure::asker("bad-answer", message);
            let (id, failure) = (Some(id), &failure);
            self.tell(&Notice::Error { id, failure });
        }
    }

    /// A task has panicked, or was cancelled.
    fn fell_over(&self, error: &JoinError) {
        if !error.is_panic() {
            return;
        }
        if let Some(id) = self.under_way.fell_over(error.id()) {
            let message = "the gateway has a defect and could not answer; its log says more";
            self.fail(id, &EngineFailure::operation("internal", message));
        }
    }

    fn fail(&self, id: u64, failure: &EngineFailure) {
        self.tell(&Notice::Failed { id, failure });
    }

    fn tell(&self, message: &impl Serialize) {
        if let Err(error) = self.outbox.tell(message) {
            tracing::debug!(%error, "a peer can't be told something");
        }
    }
}

/// What a peer asks.
struct AskedOf {
    question: String,
    with: Bytes,
    files: Vec<Arc<File>>,
    /// The trace that it belongs to.
    trace: Option<TraceContext>,
}

/// A question on its way to the engine.
struct Put<'a> {
    engine: &'a dyn Engine,
    questions: &'a Arc<Questions>,
    reporter: &'a Reporter,
}

impl Put<'_> {
    async fn question(
        &self,
        question: &str,
        with: Bytes,
        files: Vec<Arc<File>>,
    ) -> Result<(), EngineFailure> {
        match question {
            // Their futures are large, and those of all other questions need not carry their room.
            REPLY => Box::pin(self.reply(with, files)).await,
            WATCH => Box::pin(self.watch()).await,
            _ => questions::put(self.engine, question, with, self.reporter).await,
        }
    }

    async fn reply(&self, with: Bytes, files: Vec<Arc<File>>) -> Result<(), EngineFailure> {
        let request: TravellingRequest = questions::read("request", &with)?;
        // It may be large, and the turn long.
        drop(with);
        let audience = DistantAudience::new(self, request.can_answer);
        let request = request.unpack(&files)?;
        drop(files);
        let report = self.engine.reply(request, &audience).await?;
        self.reporter.report(&report).await;
        Ok(())
    }

    async fn watch(&self) -> Result<(), EngineFailure> {
        let watcher = DistantWatcher::new(self);
        tokio::select! {
            ended = self.engine.watch(&watcher) => ended?,
            () = watcher.tell_missed() => {}
        }
        self.reporter.report(&()).await;
        Ok(())
    }
}

/// Whoever tells a peer how its question ended.
pub(crate) struct Reporter {
    ticket: Ticket,
    outbox: Arc<Outbox>,
    under_way: Arc<UnderWay>,
}

impl Reporter {
    /// The question was answered.
    pub(crate) async fn report(&self, report: &(impl Serialize + Sync)) {
        self.outbox.room().await;
        // The number is free again when the peer hears the answer. Whoever took the question back
        // meanwhile hears nothing.
        if !self.under_way.end(&self.ticket) {
            return;
        }
        let id = self.ticket.id;
        let sent = self
            .outbox
            .send(&Answering::Done { id, report }, Vec::new());
        match sent {
            Ok(()) | Err(NotTaken::Closed) => {}
            Err(error @ (NotTaken::TooLong { .. } | NotTaken::Unwritable(_))) => {
                let message = format!("the answer can't be handed over: {error}");
                self.send_failure(&EngineFailure::operation("unsendable", message));
            }
        }
    }

    /// The question can't be answered.
    async fn fail(&self, failure: &EngineFailure) {
        self.outbox.room().await;
        if self.under_way.end(&self.ticket) {
            self.send_failure(failure);
        }
    }

    fn send_failure(&self, failure: &EngineFailure) {
        let id = self.ticket.id;
        let message = Notice::Failed { id, failure };
        if let Err(error) = self.outbox.send(&message, Vec::new()) {
            tracing::debug!(%error, "a peer can't be told that something failed");
        }
    }
}

fn garbage(reason: &str) -> EngineFailure {
    let message = format!("a message can't be understood: {reason}");
    EngineFailure::asker("bad-message", message)
}

fn lost_files() -> EngineFailure {
    let message = "the files that belong to the message did not arrive with it";
    EngineFailure::operation("lost-files", message)
        .hint("files arrive only over the socket, and only while the gateway has descriptors left")
}
