//! Knowing that nothing changed, without looking at every server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that is another one after every change of what servers offer.
///
/// Whoever makes something of that takes the number before looking: if it is the same later, what was made still
/// holds. So a change is noted when it can be seen, or while nobody can look; and before anybody is told of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChangeCounter(Arc<AtomicU64>);

impl ChangeCounter {
    /// Notes a change.
    pub(crate) fn note(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    /// The number as of now.
    pub(crate) fn number(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}
