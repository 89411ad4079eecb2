//! A turn that runs.

use std::sync::{Arc, Mutex, PoisonError};

use openclaw_conversation::Message;
use tokio::task::spawn_blocking;

use super::Inner;
use super::body::{Body, weight};
use super::desk::Desk;
use super::keeper::Keeper;
use super::rows::{self, Kept, Missing, TurnRow};
use crate::error::SessionError;
use crate::key::SessionKey;
use crate::lock::SessionLock;
use crate::queue::QueueHead;
use crate::store::{KeptMessage, PendingSession, Turn, TurnEnd};

/// How many bytes are worked through at once without a thread of their own.
const LIGHT: usize = 256 * 1024;

/// What keeps others out of a session; freed in this order.
pub(super) struct Holding {
    pub(super) lock: SessionLock,
    /// Those who wait in this process are let in after the others could have been.
    pub(super) _head: QueueHead,
}

/// The trace that a turn has left. Work that was handed in goes on when nobody waits for it, so it
/// is shared with that.
type Trace = Arc<Mutex<Option<TurnRow>>>;

/// A turn that runs.
pub(super) struct SqliteTurn {
    inner: Arc<Inner>,
    desk: Desk,
    key: SessionKey,
    trace: Trace,
    holding: Option<Holding>,
}

impl SqliteTurn {
    pub(super) fn new(inner: Arc<Inner>, desk: Desk, key: SessionKey, holding: Holding) -> Self {
        Self {
            inner,
            desk,
            key,
            trace: Trace::default(),
            holding: Some(holding),
        }
    }

    async fn keep(
        &self,
        messages: Vec<Message>,
        until: Option<u64>,
    ) -> Result<Vec<u64>, SessionError> {
        if messages.is_empty() {
            return Ok(Vec::new());
        }
        let bodies = self.bodies(messages).await?;
        let until = until.map(|until| i64::try_from(until).unwrap_or(i64::MAX));
        let (key, trace) = (self.key.clone(), Arc::clone(&self.trace));
        let keep = move |keeper: &mut Keeper| {
            let kept = Kept {
                key: &key,
                now: keeper.place.now(),
                bodies: &bodies,
                until,
            };
            let before = get(&trace);
            let (turn, numbers) = keeper.write(|transaction, store| {
                rows::append(transaction, store, before.clone(), &kept)
            })?;
            *trace.lock().unwrap_or_else(PoisonError::into_inner) = Some(turn);
            Ok(numbers)
        };
        self.desk.ask(keep).await
    }

    async fn bodies(&self, messages: Vec<Message>) -> Result<Vec<Body>, SessionError> {
        let is_light = messages.iter().map(weight).sum::<usize>() <= LIGHT;
        let prepare = move || messages.into_iter().map(Body::of).collect();
        if is_light {
            return prepare();
        }
        let prepared = spawn_blocking(prepare).await;
        prepared.map_err(|_| self.inner.place.unusable("a thread has ended"))?
    }
}

impl Turn for SqliteTurn {
    fn history(&mut self) -> PendingSession<'_, Vec<KeptMessage>> {
        Box::pin(async move {
            let (key, turn) = (self.key.clone(), get(&self.trace));
            let mut missing = Missing::default();
            let read = self.inner.read(move |transaction| {
                rows::history(transaction, key.as_str(), turn.as_ref(), &mut missing)
            });
            let reading = read.await?.unwrap_or_default();
            Ok(self.inner.told(reading))
        })
    }

    fn append(&mut self, messages: Vec<Message>) -> PendingSession<'_, Vec<u64>> {
        Box::pin(self.keep(messages, None))
    }

    fn summarise(&mut self, until: u64, summary: Message) -> PendingSession<'_, ()> {
        Box::pin(async move {
            self.keep(vec![summary], Some(until)).await?;
            Ok(())
        })
    }

    fn finish(mut self: Box<Self>, end: TurnEnd) -> PendingSession<'static, ()> {
        Box::pin(async move {
            let (trace, holding) = (Arc::clone(&self.trace), self.holding.take());
            self.desk
                .ask(move |keeper| close(keeper, &trace, holding, end))
                .await?;
            self.inner.pruning.begin(&self.desk, self.inner.place.now());
            Ok(())
        })
    }
}

impl Drop for SqliteTurn {
    fn drop(&mut self) {
        let Some(holding) = self.holding.take() else {
            return;
        };
        let trace = Arc::clone(&self.trace);
        let mark = move |keeper: &mut Keeper| {
            if let Err(error) = close(keeper, &trace, Some(holding), TurnEnd::Interrupted) {
                // The next turn of the session marks it.
                tracing::warn!(error = %error, "a turn that was cut could not be marked as such");
            }
        };
        // Where there is no room, the next turn of the session marks this one.
        self.desk.leave(mark);
    }
}

/// Ends a turn and lets the next one in, in that order.
fn close(
    keeper: &mut Keeper,
    trace: &Trace,
    holding: Option<Holding>,
    end: TurnEnd,
) -> Result<(), SessionError> {
    let Some(turn) = get(trace) else {
        // Nothing was said: if there is no such session, it needs no lock.
        if let Some(holding) = holding {
            holding.lock.discard();
        }
        return Ok(());
    };
    let now = keeper.place.now();
    keeper.change(|transaction, store| rows::finish(transaction, store, &turn, end, now))?;
    drop(holding);
    Ok(())
}

fn get(trace: &Trace) -> Option<TurnRow> {
    trace.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
