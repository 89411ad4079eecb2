//! Requests that wait for their answers.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::person::Person;
use crate::wire::{RawJson, ReplyId, RpcError};

/// How many requests that were given up on are remembered.
const ABANDONED: usize = 64;

/// How far a request has come, in the server's words.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How much is done.
    pub progress: f64,
    /// How much there is to do, where the server knows.
    pub total: Option<f64>,
    /// What it is doing.
    pub message: Option<String>,
}

/// Who hears of a request's progress.
pub type ProgressListener = Arc<dyn Fn(Progress) + Send + Sync>;

/// What became of a request.
pub(crate) type Reply = Result<Result<RawJson, RpcError>, Lost>;

/// Why no answer will come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The connection is gone, for this reason.
    Closed(Arc<str>),
    /// The answer was there, but larger than an answer may be.
    TooLarge,
}

/// Who is behind a request.
#[derive(Clone, Default)]
pub(crate) struct TicketOptions {
    pub(crate) progress: Option<ProgressListener>,
    pub(crate) person: Option<Arc<dyn Person>>,
    /// What kind of request it is.
    pub(crate) kind: TicketKind,
}

/// What kind of request waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TicketKind {
    /// One that is answered soon.
    #[default]
    Plain,
    /// One during which a server may ask back, and which tells of its progress.
    Interactive,
    /// One that waits as long as the connection lasts.
    Background,
}

/// All requests of a connection that wait for their answers.
#[derive(Debug)]
pub(crate) struct InFlight {
    next: AtomicU64,
    table: Mutex<Table>,
    started: Instant,
}

#[derive(Debug, Default)]
struct Table {
    waiting: BTreeMap<u64, Waiting>,
    /// The last requests that nobody waits for any longer, though they were not answered.
    abandoned: VecDeque<u64>,
    /// Set once, when the connection is gone.
    closed: Option<Lost>,
}

struct Waiting {
    reply: oneshot::Sender<Reply>,
    shared: Arc<Shared>,
}

impl fmt::Debug for Waiting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Waiting").finish_non_exhaustive()
    }
}

/// What both the one who waits and those who have news for it see.
struct Shared {
    /// When it last gave a sign of life, in milliseconds since the connection was made.
    alive: AtomicU64,
    /// How many things it waits for that are not the server's fault.
    held: AtomicU32,
    /// How long a person was asked something.
    asked: Mutex<Asked>,
    /// Whether nobody waits any longer, and who wants to know.
    is_over: AtomicBool,
    ended: Notify,
    options: TicketOptions,
}

/// How long questions to a person have stood; while several do, the time is counted once.
#[derive(Debug, Default)]
struct Asked {
    before: Duration,
    open: u32,
    /// Since when at least one is open.
    since: Option<Instant>,
}

/// A request that waits for its answer. Dropping it means not to wait any longer.
pub(crate) struct Ticket {
    id: u64,
    reply: oneshot::Receiver<Reply>,
    shared: Arc<Shared>,
    table: Arc<InFlight>,
}

/// While it lives, the time that passes is not counted as silence of the server.
pub(crate) struct Hold {
    shared: Arc<Shared>,
    table: Arc<InFlight>,
}

/// While it lives, a person thinks: the time that passes is not counted at all.
pub(crate) struct Thinking {
    hold: Hold,
}

impl InFlight {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            // There are servers that take an identifier of 0 for none.
            next: AtomicU64::new(1),
            table: Mutex::default(),
            started: Instant::now(),
        })
    }

    /// Makes a request known before it is sent.
    pub(crate) fn register(self: &Arc<Self>, options: TicketOptions, now: Instant) -> Ticket {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, reply) = oneshot::channel();
        let shared = Arc::new(Shared {
            alive: AtomicU64::new(self.age(now)),
            held: AtomicU32::new(0),
            asked: Mutex::default(),
            is_over: AtomicBool::new(false),
            ended: Notify::new(),
            options,
        });
        let mut table = self.lock();
        match &table.closed {
            Some(lost) => drop(sender.send(Err(lost.clone()))),
            None => {
                let waiting = Waiting {
                    reply: sender,
                    shared: shared.clone(),
                };
                table.waiting.insert(id, waiting);
            }
        }
        drop(table);
        Ticket {
            id,
            reply,
            shared,
            table: self.clone(),
        }
    }

    /// Hands an answer to whoever waits for it; `false` if nobody does.
    pub(crate) fn deliver(&self, id: ReplyId, reply: Reply) -> bool {
        let mut table = self.lock();
        let id = match id {
            ReplyId::Ours(id) => Some(id),
            // Servers that could not read a request don't know its identifier.
            ReplyId::Missing => match &reply {
                Ok(Err(error)) if error.is_about_reading() => table.only(),
                Err(_) => table.only(),
                Ok(_) => None,
            },
            ReplyId::Foreign => None,
        };
        let waiting = id.and_then(|id| table.waiting.remove(&id));
        drop(table);
        waiting.is_some_and(|waiting| waiting.reply.send(reply).is_ok())
    }

    /// Whether a request was given up on: that its answer comes late is nobody's mistake.
    pub(crate) fn is_abandoned(&self, id: u64) -> bool {
        let mut table = self.lock();
        let found = table.abandoned.iter().position(|it| *it == id);
        found.is_some_and(|found| table.abandoned.remove(found).is_some())
    }

    /// Tells all who wait, and all who will, that the connection is gone.
    pub(crate) fn close(&self, reason: &str) {
        let lost = Lost::Closed(reason.into());
        let mut table = self.lock();
        if table.closed.is_none() {
            table.closed = Some(lost.clone());
        }
        let waiting = std::mem::take(&mut table.waiting);
        drop(table);
        for waiting in waiting.into_values() {
            let _ = waiting.reply.send(Err(lost.clone()));
        }
    }

    /// Tells all who wait that their answers are lost; the connection goes on.
    pub(crate) fn lose_all(&self, reason: &str) {
        let waiting = std::mem::take(&mut self.lock().waiting);
        for waiting in waiting.into_values() {
            let _ = waiting.reply.send(Err(Lost::Closed(reason.into())));
        }
    }

    /// Notes that the server will not go on with something that waits as long as the connection.
    pub(crate) fn end_background(&self, id: u64) {
        let mut table = self.lock();
        let is_background = |it: &Waiting| it.shared.options.kind == TicketKind::Background;
        if table.waiting.get(&id).is_some_and(is_background)
            && let Some(waiting) = table.waiting.remove(&id)
        {
            let _ = waiting
                .reply
                .send(Err(Lost::Closed("the server ended it".into())));
        }
    }

    /// Whether something waits for as long as the connection lasts, under this number.
    pub(crate) fn is_background(&self, id: u64) -> bool {
        let table = self.lock();
        let waiting = table.waiting.get(&id);
        waiting.is_some_and(|it| it.shared.options.kind == TicketKind::Background)
    }

    /// Notes that a request is being worked on.
    pub(crate) fn progressed(&self, id: u64, progress: impl FnOnce() -> Option<Progress>) {
        let shared = self.lock().waiting.get(&id).map(|it| it.shared.clone());
        if let Some(shared) = shared {
            shared.alive.store(self.now(), Ordering::Relaxed);
            if let (Some(listener), Some(progress)) = (&shared.options.progress, progress()) {
                listener(progress);
            }
        }
    }

    /// The person behind a request, and what stops its clocks while the person thinks.
    ///
    /// Without `id` it is the person behind the only call there is: a server that asks on a shared
    /// connection does not say for whom.
    pub(crate) fn person(self: &Arc<Self>, id: Option<u64>) -> Option<(Arc<dyn Person>, Thinking)> {
        let table = self.lock();
        let waiting = match id {
            Some(id) => table.waiting.get(&id)?,
            None => {
                let mut calls = table.waiting.values();
                let mut calls = calls
                    .by_ref()
                    .filter(|it| it.shared.options.kind == TicketKind::Interactive);
                let only = calls.next()?;
                if calls.next().is_some() {
                    return None;
                }
                only
            }
        };
        let shared = waiting.shared.clone();
        drop(table);
        let person = shared.options.person.clone()?;
        let hold = Hold::new(shared, self.clone());
        Some((person, Thinking::new(hold)))
    }

    /// Whether the connection is gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed.is_some()
    }

    /// How many requests wait that somebody waits for.
    pub(crate) fn len(&self) -> usize {
        self.lock().foreground().count()
    }

    fn now(&self) -> u64 {
        self.age(Instant::now())
    }

    /// How old the connection is at a moment, in milliseconds.
    fn age(&self, moment: Instant) -> u64 {
        let age = moment.saturating_duration_since(self.started);
        u64::try_from(age.as_millis()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn foreground(&self) -> impl Iterator<Item = u64> {
        let waiting = self.waiting.iter();
        let waiting = waiting.filter(|(_, it)| it.shared.options.kind != TicketKind::Background);
        waiting.map(|(id, _)| *id)
    }

    fn only(&self) -> Option<u64> {
        let mut ids = self.foreground();
        ids.next().filter(|_| ids.next().is_none())
    }
}

impl Ticket {
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Waits for the answer.
    pub(crate) async fn reply(&mut self) -> Reply {
        match (&mut self.reply).await {
            Ok(reply) => reply,
            Err(_) => Err(Lost::Closed("the connection was closed".into())),
        }
    }

    /// The answer, if it is there.
    pub(crate) fn try_reply(&mut self) -> Option<Reply> {
        self.reply.try_recv().ok()
    }

    /// Its share in what others see of it, for whoever waits for silence.
    pub(crate) fn pulse(&self) -> Pulse {
        Pulse {
            shared: self.shared.clone(),
            table: self.table.clone(),
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut table = self.table.lock();
        if table.waiting.remove(&self.id).is_some() {
            if table.abandoned.len() == ABANDONED {
                table.abandoned.pop_front();
            }
            table.abandoned.push_back(self.id);
        }
        drop(table);
        self.shared.is_over.store(true, Ordering::Release);
        self.shared.ended.notify_waiters();
    }
}

/// Tells how long a request has been silent.
pub(crate) struct Pulse {
    shared: Arc<Shared>,
    table: Arc<InFlight>,
}

impl Pulse {
    /// Notes a sign of life.
    pub(crate) fn beat(&self) {
        let now = self.table.now();
        self.shared.alive.store(now, Ordering::Relaxed);
    }

    /// Stops counting silence until the hold is dropped.
    pub(crate) fn hold(&self) -> Hold {
        Hold::new(self.shared.clone(), self.table.clone())
    }

    /// How long a person was asked something so far, and whether one is asked right now.
    pub(crate) fn asked(&self) -> (Duration, bool) {
        let asked = self.shared.asked();
        let now = asked.since.map(|since| since.elapsed());
        (asked.before + now.unwrap_or_default(), now.is_some())
    }

    /// How long there has been no sign of life.
    pub(crate) fn silence(&self) -> Duration {
        if self.shared.held.load(Ordering::Acquire) > 0 {
            return Duration::ZERO;
        }
        let alive = self.shared.alive.load(Ordering::Relaxed);
        Duration::from_millis(self.table.now().saturating_sub(alive))
    }
}

impl Hold {
    fn new(shared: Arc<Shared>, table: Arc<InFlight>) -> Self {
        shared.held.fetch_add(1, Ordering::AcqRel);
        Self { shared, table }
    }
}

impl Thinking {
    fn new(hold: Hold) -> Self {
        let mut asked = hold.shared.asked();
        asked.open += 1;
        asked.since.get_or_insert_with(Instant::now);
        drop(asked);
        Self { hold }
    }

    /// Waits until nobody waits for the request any longer.
    pub(crate) async fn ended(&self) {
        let shared = &self.hold.shared;
        let ended = shared.ended.notified();
        tokio::pin!(ended);
        // Registered before the look, so that an end in between is not missed.
        ended.as_mut().enable();
        if !shared.is_over.load(Ordering::Acquire) {
            ended.await;
        }
    }
}

impl Drop for Thinking {
    fn drop(&mut self) {
        let mut asked = self.hold.shared.asked();
        asked.open = asked.open.saturating_sub(1);
        if asked.open == 0
            && let Some(since) = asked.since.take()
        {
            asked.before += since.elapsed();
        }
    }
}

impl Shared {
    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.shared.alive.store(self.table.now(), Ordering::Relaxed);
        self.shared.held.fetch_sub(1, Ordering::AcqRel);
    }
}
