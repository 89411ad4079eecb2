//! What came in over HTTP.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use http::StatusCode;

use crate::routes::TABLE;

/// What came in over HTTP. What can't be told from each other is counted together, so that nobody can
/// make it grow by asking for more and more.
#[derive(Default)]
pub(crate) struct Traffic {
    /// By the place of the route in the table, and by status.
    requests: Mutex<BTreeMap<(Option<usize>, u16), u64>>,
    connections: Arc<AtomicUsize>,
}

/// A connection, for as long as it is counted.
pub(crate) struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Traffic {
    /// A request was answered.
    pub(crate) fn answered(&self, route: Option<usize>, status: StatusCode) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((route, status.as_u16())).or_default() += 1;
    }

    /// A connection is there until this is dropped.
    pub(crate) fn connected(&self) -> Counted {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(&self.connections))
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// How many requests there were, by path and status.
    pub(super) fn requests(&self) -> Vec<(&'static str, u16, u64)> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let path = |position: &Option<usize>| {
            let route = position.and_then(|position| TABLE.get(position));
            route.map_or("other", |route| route.path)
        };
        requests
            .iter()
            .map(|((position, status), count)| (path(position), *status, *count))
            .collect()
    }
}
