//! One event.

use std::time::Duration;

use bytes::Bytes;

/// One event.
///
/// An event without data, which a browser would drop, is handed over, too: servers send one at the
/// beginning of a stream to tell its number and how long to wait before coming back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its number, where it has one of its own. An empty one takes back the numbers before it.
    pub id: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Its data, which should be UTF-8 but may be anything.
    pub data: Bytes,
    /// How long to wait before coming back when the stream ends, from now on.
    pub retry: Option<Duration>,
}
