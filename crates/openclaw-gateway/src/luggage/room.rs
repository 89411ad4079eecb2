//! Room for so much, of which parts are held.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// So many KiB.
#[derive(Clone)]
pub(super) struct Room {
    free: Arc<Semaphore>,
    /// How much there is in all.
    pub(super) most: usize,
}

impl Room {
    pub(super) fn new(kibibytes: usize) -> Self {
        let most = kibibytes.min(Semaphore::MAX_PERMITS);
        Self {
            free: Arc::new(Semaphore::new(most)),
            most,
        }
    }

    /// How much of it so many bytes take: all that there is, where they are more.
    fn permits(&self, bytes: u64) -> u32 {
        u32::try_from(kibibytes(bytes).min(self.most)).unwrap_or(u32::MAX)
    }

    /// Whether it is this of which something is held.
    pub(super) fn is_held_by(&self, held: &OwnedSemaphorePermit) -> bool {
        Arc::ptr_eq(held.semaphore(), &self.free)
    }

    /// Room for so many bytes, if there is some.
    pub(super) fn try_hold(&self, bytes: u64) -> Option<OwnedSemaphorePermit> {
        let free = Arc::clone(&self.free);
        free.try_acquire_many_owned(self.permits(bytes)).ok()
    }

    /// Waits for room for so many bytes, where there is room for some of them already.
    pub(super) async fn hold(
        &self,
        held: Option<OwnedSemaphorePermit>,
        bytes: u64,
    ) -> Option<OwnedSemaphorePermit> {
        let held = held.filter(|held| self.is_held_by(held));
        let has = held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let has = u32::try_from(has).unwrap_or(u32::MAX);
        let needed = self.permits(bytes).saturating_sub(has);
        let room = Arc::clone(&self.free).acquire_many_owned(needed);
        // It is never closed.
        let room = room.await.ok()?;
        Some(match held {
            Some(mut held) => {
                held.merge(room);
                held
            }
            None => room,
        })
    }
}

pub(super) fn kibibytes(bytes: u64) -> usize {
    usize::try_from(bytes.div_ceil(1024)).unwrap_or(usize::MAX)
}
