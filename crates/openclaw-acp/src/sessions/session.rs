//! A session that is open.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::v1::schema::SessionId;
use openclaw_engine::SessionChoice;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use super::loans::Loan;
use super::mode::Mode;
use super::record::Record;
use crate::identifier::Identifier;

/// A session that is open.
pub(crate) struct Session {
    pub(crate) id: Identifier,
    /// The same, as the protocol names it.
    pub(crate) name: SessionId,
    /// The project.
    pub(crate) directory: PathBuf,
    /// Whether it was closed, or opened anew.
    pub(crate) gone: CancellationToken,
    /// Whether nothing more is done for it after it was closed.
    pub(super) closed: CancellationToken,
    /// What is lent to it. Whoever needs to know waits here while servers are being lent.
    pub(super) loan: Arc<AsyncMutex<Loan>>,
    /// Whoever has it has the turn.
    turn: Arc<AsyncMutex<()>>,
    state: Mutex<State>,
}

struct State {
    mode: Mode,
    record: Record,
    /// Stops the turn.
    cancellation: CancellationToken,
    /// What the editor was told last can be typed, as a number.
    announced: Option<u64>,
}

/// The one turn that a session has at a time.
pub(crate) struct TurnTaken {
    /// Told when the turn is to stop.
    pub(crate) cancelled: CancellationToken,
    _taken: OwnedMutexGuard<()>,
}

impl Session {
    /// A session, which goes on from one of the same name.
    pub(super) fn new(id: Identifier, record: Record, earlier: Option<&Self>) -> Self {
        let gone = CancellationToken::new();
        Self {
            name: SessionId::new(id.as_str()),
            id,
            directory: PathBuf::from(&record.directory),
            loan: earlier.map_or_else(Arc::default, |earlier| Arc::clone(&earlier.loan)),
            turn: Arc::default(),
            closed: CancellationToken::new(),
            state: Mutex::new(State {
                mode: earlier.map_or_else(Mode::default, Self::mode),
                record,
                cancellation: gone.child_token(),
                announced: None,
            }),
            gone,
        }
    }

    /// It, as the engine is told.
    pub(crate) fn choice(&self) -> SessionChoice {
        SessionChoice::Editor(self.id.to_string())
    }

    /// The agent; the default one if none was named. Once a session has an agent, it keeps it, whichever is
    /// the default one later.
    pub(crate) fn agent(&self) -> Option<String> {
        let record = &self.state().record;
        let named = record.agent.as_deref();
        let known = || agent_of(record.key.as_deref()?);
        named.or_else(known).map(ToOwned::to_owned)
    }

    /// What happens when a tool needs the consent of a person.
    pub(crate) fn mode(&self) -> Mode {
        self.state().mode
    }

    /// Changes that, from the next call on.
    pub(crate) fn set_mode(&self, mode: Mode) {
        self.state().mode = mode;
    }

    /// Takes the turn, unless there is one.
    pub(crate) fn take_turn(&self) -> Option<TurnTaken> {
        let taken = Arc::clone(&self.turn).try_lock_owned().ok()?;
        let cancelled = self.gone.child_token();
        self.state().cancellation = cancelled.clone();
        Some(TurnTaken {
            cancelled,
            _taken: taken,
        })
    }

    /// Stops the turn, if there is one.
    pub(crate) fn cancel_turn(&self) {
        self.state().cancellation.cancel();
    }

    /// Waits until there is no turn.
    pub(super) async fn turn_ended(&self) {
        drop(self.turn.lock().await);
    }

    /// Whether the editor was told something else last, which this takes the place of.
    pub(super) fn announces(&self, commands: u64) -> bool {
        self.state().announced.replace(commands) != Some(commands)
    }

    /// What is kept of it.
    pub(super) fn record(&self) -> Record {
        self.state().record.clone()
    }

    /// Learns its whole name. Returns whether that is news.
    pub(crate) fn learn_key(&self, key: &str) -> bool {
        let known = &mut self.state().record.key;
        let is_news = !key.is_empty() && known.as_deref() != Some(key);
        if is_news {
            *known = Some(key.to_owned());
        }
        is_news
    }

    /// Gets a title, unless it has one. Returns whether it got it.
    pub(crate) fn learn_title(&self, title: &str) -> bool {
        let known = &mut self.state().record.title;
        let is_news = known.is_none() && !title.is_empty();
        if is_news {
            *known = Some(title.to_owned());
        }
        is_news
    }

    /// Learns what the session that it goes on from has learned last.
    pub(super) fn learn_from(&self, earlier: &Self) {
        let earlier = earlier.record();
        let known = &mut self.state().record;
        known.title = earlier.title.or_else(|| known.title.take());
        known.key = earlier.key.or_else(|| known.key.take());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The agent of a session, by its whole name: `agent:main:acp:…`.
fn agent_of(key: &str) -> Option<&str> {
    let (agent, _) = key.strip_prefix("agent:")?.split_once(':')?;
    (!agent.is_empty()).then_some(agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(agent: Option<&str>, key: Option<&str>) -> Session {
        let record = Record {
            agent: agent.map(ToOwned::to_owned),
            key: key.map(ToOwned::to_owned),
            ..Record::default()
        };
        Session::new(Identifier::random().unwrap(), record, None)
    }

    #[test]
    fn a_session_keeps_its_agent() {
        let key = Some("agent:work:acp:00");
        for (agent, key, expected) in [
            (None, None, None),
            (None, key, Some("work")),
            (Some("home"), key, Some("home")),
            (None, Some("acp:00"), None),
        ] {
            assert_eq!(session(agent, key).agent().as_deref(), expected);
        }
        let session = session(None, None);
        assert!(session.learn_key("agent:work:acp:00"));
        assert!(!session.learn_key(""));
        assert_eq!(session.agent().as_deref(), Some("work"));
    }

    #[test]
    fn there_is_one_turn_at_a_time() {
        let session = session(None, None);
        let first = session.take_turn().unwrap();
        assert!(session.take_turn().is_none());
        session.cancel_turn();
        assert!(first.cancelled.is_cancelled());
        drop(first);
        let second = session.take_turn().unwrap();
        assert!(!second.cancelled.is_cancelled());
        session.gone.cancel();
        assert!(second.cancelled.is_cancelled());
    }
}
