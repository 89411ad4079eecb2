//! The store in a file of the state directory: a database of SQLite that processes share.
//!
//! | module | owns |
//! |---|---|
//! | `place` | where the store is, the clock, what people should know |
//! | `opening` | whose a file is, its version, making and updating it |
//! | `keeper` | the open database, setting a damaged one aside |
//! | `desk` | the threads that have it, and the way to ask them |
//! | `rows` | what is asked, in the language of the database |
//! | `reading` | messages from rows, in several threads |
//! | `blobs` | the bytes of media, written and read piece by piece |
//! | `body` | messages as text, media apart from it |
//! | `turn` | a turn that runs |
//! | `removal`, `prune` | deleting, and what is deleted by itself |
//! | `failure` | what went wrong, by what can be done about it |

mod blobs;
mod body;
mod desk;
mod failure;
mod keeper;
mod opening;
mod place;
mod prune;
mod reading;
mod removal;
mod rows;
mod turn;

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use openclaw_conversation::BlobId;
use tokio::time::{Instant, timeout_at};

use self::desk::{Desk, DeskWork};
use self::keeper::Keeper;
use self::place::StorePlace;
use self::prune::Pruning;
use self::reading::Reading;
use self::turn::{Holding, SqliteTurn};
use crate::error::SessionError;
use crate::key::SessionKey;
use crate::queue::Queues;
use crate::store::{
    KeptMessage, PendingSession, SessionFilter, SessionStore, SessionSummary, Turn, TurnState,
};

pub use self::place::{SessionClock, SessionsSetup, stores_set_aside};

/// The longest that anybody waits.
const LONGEST_PATIENCE: Duration = Duration::from_hours(7 * 24);

/// The sessions of a state directory, shared with other processes.
///
/// Nothing is done before the first question, and no file is made before the first message.
pub struct SqliteSessions {
    inner: Arc<Inner>,
}

struct Inner {
    place: Arc<StorePlace>,
    queues: Queues,
    pruning: Pruning,
    writing: Mutex<Option<Desk>>,
    reading: Mutex<Option<Desk>>,
}

impl SqliteSessions {
    /// The sessions of a state directory.
    pub fn open(setup: SessionsSetup) -> Self {
        Self {
            inner: Arc::new(Inner {
                place: Arc::new(StorePlace::new(setup)),
                queues: Queues::default(),
                pruning: Pruning::default(),
                writing: Mutex::default(),
                reading: Mutex::default(),
            }),
        }
    }
}

impl Inner {
    fn desk(&self, work: DeskWork) -> Result<Desk, SessionError> {
        let desk = match work {
            DeskWork::Reading => &self.reading,
            DeskWork::Writing => &self.writing,
        };
        let mut desk = desk.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(desk) = desk.as_ref().filter(|desk| !desk.is_closed()) {
            return Ok(desk.clone());
        }
        let started = Desk::start(&self.place, work)
            .map_err(|error| self.place.unusable(place::reason_of(&error)))?;
        *desk = Some(started.clone());
        Ok(started)
    }

    async fn read<T: Send + 'static>(
        &self,
        mut read: impl FnMut(&rusqlite::Transaction<'_>) -> Result<T, failure::Failure> + Send + 'static,
    ) -> Result<Option<T>, SessionError> {
        let desk = self.desk(DeskWork::Reading)?;
        desk.ask(move |keeper: &mut Keeper| keeper.read(&mut read))
            .await
    }

    /// Keeps everybody else out of a session, in this process and in others.
    async fn hold(&self, key: &SessionKey, patience: Duration) -> Result<Holding, SessionError> {
        let patience = patience.min(LONGEST_PATIENCE);
        let deadline = Instant::now() + patience;
        let in_use = || SessionError::InUse { waited: patience };
        let queue = self.queues.of(key.as_str());
        let head = timeout_at(deadline, queue.lock_owned())
            .await
            .map_err(|_| in_use())?;
        let locks = self.place.locks_made_for(key)?;
        let rest = deadline.saturating_duration_since(Instant::now());
        let lock = locks.take(rest).await;
        let lock = lock.map_err(|error| self.place.unwritable(place::reason_of(&error)))?;
        Ok(Holding {
            lock: lock.ok_or_else(in_use)?,
            _head: head,
        })
    }

    /// The messages that were read; people are told where some could not be.
    fn told(&self, reading: Reading) -> Vec<KeptMessage> {
        let Reading { messages, lost } = reading;
        if lost > 0 {
            tracing::error!(lost, "messages of a session are damaged");
            let path = self.place.path.display();
            self.place.remark(format!(
                "{lost} messages of a session in {path} are damaged and can't be read"
            ));
        }
        messages
    }

    async fn begin(
        self: Arc<Self>,
        key: &SessionKey,
        patience: Duration,
    ) -> Result<Box<dyn Turn>, SessionError> {
        let desk = self.desk(DeskWork::Writing)?;
        let holding = self.hold(key, patience).await?;
        let session = key.as_str().to_owned();
        // Whoever ran a turn of this session is gone, or the lock would not be ours.
        // The lock stays with the work, which is done even if nobody waits for it any longer: without
        // it, it could be somebody else's turn that is marked.
        let mark = move |keeper: &mut Keeper| {
            let open = keeper.read(|transaction| rows::left_open(transaction, &session))?;
            if let Some(session) = open.flatten() {
                let now = keeper.place.now();
                keeper.change(|transaction, _| rows::interrupt(transaction, session, now))?;
            }
            Ok(holding)
        };
        let holding = desk.ask(mark).await?;
        let turn = SqliteTurn::new(Arc::clone(&self), desk, key.clone(), holding);
        Ok(Box::new(turn))
    }

    async fn show(&self, key: &SessionKey) -> Result<Option<Vec<KeptMessage>>, SessionError> {
        let Some(mut messages) = self.all(key).await? else {
            return Ok(None);
        };
        let is_running = |kept: &&KeptMessage| kept.state == TurnState::Running;
        let running = messages.iter().filter(is_running);
        let running: BTreeSet<u64> = running.map(|kept| kept.turn).collect();
        if !running.is_empty() && !self.place.locks_of(key.as_str()).is_held() {
            // The end of a turn is written before its lock is freed. So what ran when we read, and
            // still has no end now that nobody held the lock, was cut.
            messages = self.all(key).await?.unwrap_or_default();
            for kept in &mut messages {
                if kept.state == TurnState::Running && running.contains(&kept.turn) {
                    kept.state = TurnState::Interrupted;
                }
            }
        }
        Ok(Some(messages))
    }

    async fn all(&self, key: &SessionKey) -> Result<Option<Vec<KeptMessage>>, SessionError> {
        let name = key.as_str().to_owned();
        let mut missing = rows::Missing::default();
        let found = self.read(move |transaction| rows::all(transaction, &name, &mut missing));
        Ok(found.await?.flatten().map(|reading| self.told(reading)))
    }

    async fn delete(&self, key: &SessionKey, patience: Duration) -> Result<bool, SessionError> {
        let is_nowhere = !self.place.path.exists() && !self.place.locks_of(key.as_str()).exists();
        if is_nowhere {
            return Ok(false);
        }
        let desk = self.desk(DeskWork::Writing)?;
        let holding = self.hold(key, patience).await?;
        let session = key.as_str().to_owned();
        let delete = move |keeper: &mut Keeper| {
            let was_there = removal::delete(keeper, &session)?;
            // Nobody is told before that nothing of it is left in the journal either, if possible.
            if was_there {
                removal::shrink(keeper)?;
                keeper.settle();
            }
            holding.lock.discard();
            Ok(was_there)
        };
        desk.ask(delete).await
    }
}

impl SessionStore for SqliteSessions {
    fn begin<'a>(
        &'a self,
        key: &'a SessionKey,
        patience: Duration,
    ) -> PendingSession<'a, Box<dyn Turn>> {
        Box::pin(Arc::clone(&self.inner).begin(key, patience))
    }

    fn list(&self, filter: SessionFilter) -> PendingSession<'_, Vec<SessionSummary>> {
        Box::pin(async move {
            let list = self
                .inner
                .read(move |transaction| rows::list(transaction, &filter));
            Ok(list.await?.unwrap_or_default())
        })
    }

    fn count(&self) -> PendingSession<'_, u64> {
        Box::pin(async move {
            let count = self.inner.read(rows::count).await?.unwrap_or_default();
            Ok(u64::try_from(count).unwrap_or_default())
        })
    }

    fn show<'a>(&'a self, key: &'a SessionKey) -> PendingSession<'a, Option<Vec<KeptMessage>>> {
        Box::pin(self.inner.show(key))
    }

    fn delete<'a>(&'a self, key: &'a SessionKey, patience: Duration) -> PendingSession<'a, bool> {
        Box::pin(self.inner.delete(key, patience))
    }

    fn blob<'a>(&'a self, id: &'a BlobId) -> PendingSession<'a, Option<String>> {
        Box::pin(async move {
            let id = id.clone();
            let data = self
                .inner
                .read(move |transaction| blobs::fetch(transaction, &id));
            Ok(data.await?.flatten())
        })
    }

    fn remarks(&self) -> Vec<String> {
        self.inner.place.remarks()
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            // What was handed in before is done when this is.
            let reading = started(&self.inner.reading);
            if let Some(desk) = reading {
                let rest = |keeper: &mut Keeper| {
                    keeper.rest();
                    Ok(())
                };
                let _ = desk.ask(rest).await;
            }
            let writing = started(&self.inner.writing);
            if let Some(desk) = writing {
                let settle = |keeper: &mut Keeper| {
                    keeper.settle();
                    Ok(())
                };
                let _ = desk.ask(settle).await;
            }
        })
    }
}

fn started(desk: &Mutex<Option<Desk>>) -> Option<Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
