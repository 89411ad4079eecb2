//! The seam: what a store of sessions does.

use std::pin::Pin;
use std::time::{Duration, SystemTime};

use openclaw_config::AgentId;
use openclaw_conversation::{BlobId, Message};

use crate::error::SessionError;
use crate::key::SessionKey;

/// Something of a store that is still to come.
pub type PendingSession<'a, T> = Pin<Box<dyn Future<Output = Result<T, SessionError>> + Send + 'a>>;

/// How a turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnState {
    /// It runs, in whatever process.
    Running,
    /// It came to its end.
    Complete,
    /// It was cut: by a kill, or because whoever asked is gone. Its calls may have had effects.
    Interrupted,
    /// It ended with an error.
    Failed,
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// With an answer.
    Complete,
    /// With an error.
    Failed,
    /// Before it was over.
    Interrupted,
}

/// A message of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptMessage {
    /// Its number within the session, from 1; later messages have larger ones.
    pub number: u64,
    /// When it was kept.
    pub time: SystemTime,
    /// The turn it belongs to: the number of the turn's first message.
    pub turn: u64,
    /// How that turn is.
    pub state: TurnState,
    /// What was said.
    pub message: Message,
}

/// What a session is, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// Its name.
    pub key: SessionKey,
    /// How many messages it has.
    pub messages: u64,
    /// When it began.
    pub created: SystemTime,
    /// When something was last said in it.
    pub updated: SystemTime,
}

/// Which sessions are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Those of this agent only.
    pub agent: Option<AgentId>,
}

/// A store of sessions.
pub trait SessionStore: Send + Sync {
    /// Begins a turn of a session, which is made if it is not there: waits until no other turn of it
    /// runs in any process, at most so long. Those who wait in this process get it in their order.
    /// Turns that were cut before are marked as such.
    fn begin<'a>(
        &'a self,
        key: &'a SessionKey,
        patience: Duration,
    ) -> PendingSession<'a, Box<dyn Turn>>;
    /// The sessions, the one that was last used first.
    fn list(&self, filter: SessionFilter) -> PendingSession<'_, Vec<SessionSummary>>;
    /// How many sessions there are.
    fn count(&self) -> PendingSession<'_, u64>;
    /// All messages of a session; none if there is no such session.
    fn show<'a>(&'a self, key: &'a SessionKey) -> PendingSession<'a, Option<Vec<KeptMessage>>>;
    /// Deletes a session, once no turn of it runs. Says whether there was one.
    fn delete<'a>(&'a self, key: &'a SessionKey, patience: Duration) -> PendingSession<'a, bool>;
    /// The bytes of a piece of media, in base64; none if they are gone.
    fn blob<'a>(&'a self, id: &'a BlobId) -> PendingSession<'a, Option<String>>;
    /// What a person should know about the store: that a broken one was set aside, say.
    fn remarks(&self) -> Vec<String>;
    /// Waits until everything is written.
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// A turn of a session, which nobody else can touch meanwhile. One that is dropped without an end
/// is marked as interrupted.
pub trait Turn: Send + Sync {
    /// The messages since the last summary, that included, but for those of this turn.
    fn history(&mut self) -> PendingSession<'_, Vec<KeptMessage>>;
    /// Keeps messages: they are there after any kill once this is done. Media that are here are
    /// kept, too. Answers their numbers.
    fn append(&mut self, messages: Vec<Message>) -> PendingSession<'_, Vec<u64>>;
    /// Keeps a summary that stands for all messages up to this number.
    fn summarise(&mut self, until: u64, summary: Message) -> PendingSession<'_, ()>;
    /// Ends the turn.
    fn finish(self: Box<Self>, end: TurnEnd) -> PendingSession<'static, ()>;
}
