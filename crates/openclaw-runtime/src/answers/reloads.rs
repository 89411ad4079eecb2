//! Readings of the configuration: one at a time, for all who want one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use openclaw_engine::{EngineFailure, ReloadReport};

use crate::elsewhere::elsewhere;

/// What came of a reading.
type Done = Result<ReloadReport, EngineFailure>;

/// Readings of the configuration. What was read first must not come into force last, so that one waits for
/// the other; and one serves all who asked for it before it began, so that they don't pile up.
#[derive(Default)]
pub(crate) struct Reloads {
    /// Held while one is under way.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// How many have begun.
    begun: Arc<AtomicU64>,
    /// What came of the last one, with its number.
    last: Arc<Mutex<Option<(u64, Done)>>>,
}

impl Reloads {
    /// Has the configuration read once more, or shares a reading that begins from now on. Whoever drops
    /// this while it waits wants nothing any longer; one that has begun is done whole.
    pub(super) async fn ask(&self, read: impl FnOnce() -> Done + Send + 'static) -> Done {
        let before = self.begun.load(Ordering::Acquire);
        let turn = Arc::clone(&self.turn).lock_owned().await;
        if let Some((number, done)) = &*last(&self.last)
            && *number > before
        {
            return done.clone();
        }
        let number = self.begun.fetch_add(1, Ordering::AcqRel) + 1;
        let noted = Arc::clone(&self.last);
        elsewhere(move || {
            let done = read();
            *last(&noted) = Some((number, done.clone()));
            drop(turn);
            done
        })
        .await?
    }
}

fn last(last: &Mutex<Option<(u64, Done)>>) -> std::sync::MutexGuard<'_, Option<(u64, Done)>> {
    last.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
