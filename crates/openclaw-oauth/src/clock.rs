//! What time it is, passed in so that tests need not wait.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// What time it is, in milliseconds since 1970.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Clock {
    /// The clock of the system.
    pub fn system() -> Self {
        Self::new(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            since.map_or(0, |since| {
                u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
            })
        })
    }

    /// Another clock.
    pub fn new(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    pub(crate) fn now(&self) -> u64 {
        (self.0)()
    }
}
