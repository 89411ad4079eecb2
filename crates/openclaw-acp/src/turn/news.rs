//! What was learned of a session in a turn, and is to be kept.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Notify, watch};

use crate::office::Office;
use crate::sessions::Session;

/// Whether something was learned that is not kept yet.
#[derive(Default)]
pub(super) struct News {
    /// How often something was learned.
    learned: AtomicU64,
    told: Notify,
    /// How much of that is kept.
    kept: watch::Sender<u64>,
}

impl News {
    /// Something was learned.
    pub(super) fn learned(&self) {
        self.learned.fetch_add(1, Ordering::AcqRel);
        self.told.notify_one();
    }

    /// Keeps what is learned as soon as it is: a turn may take long, and nobody knows how it ends. This never
    /// ends by itself.
    pub(super) async fn keep(&self, office: &Office, session: &Session) {
        loop {
            self.told.notified().await;
            let learned = self.learned.load(Ordering::Acquire);
            office.keep_record(session).await;
            self.kept.send_replace(learned);
        }
    }

    /// Waits until everything is kept that was learned.
    pub(super) async fn all_kept(&self) {
        let learned = self.learned.load(Ordering::Acquire);
        let mut kept = self.kept.subscribe();
        // It is never closed: the other end is ours.
        let _ = kept.wait_for(|kept| *kept >= learned).await;
    }
}
