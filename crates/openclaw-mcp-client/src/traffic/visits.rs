//! Addresses that a server wanted a person to visit, and word that it happened.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// How many are remembered until somebody asks.
const REMEMBERED: usize = 64;

/// Which visits a server has called complete.
#[derive(Debug, Default)]
pub(crate) struct Visits {
    complete: Mutex<VecDeque<String>>,
    news: Notify,
}

impl Visits {
    /// Notes that a visit is complete.
    pub(crate) fn note(&self, id: String) {
        let mut complete = self.lock();
        if complete.len() == REMEMBERED {
            complete.pop_front();
        }
        complete.push_back(id);
        drop(complete);
        self.news.notify_waiters();
    }

    /// Waits until a visit is complete, for as long as the caller likes.
    pub(crate) async fn complete(&self, id: &str) {
        loop {
            let news = self.news.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            if self.take(id) {
                return;
            }
            news.await;
        }
    }

    /// Whether a visit is complete; that is told once.
    fn take(&self, id: &str) -> bool {
        let mut complete = self.lock();
        let found = complete.iter().position(|it| it == id);
        found.is_some_and(|found| complete.remove(found).is_some())
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.complete.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
