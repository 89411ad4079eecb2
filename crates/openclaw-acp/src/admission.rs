//! How much may be under way at once. Whatever is beyond is refused: an editor that knows can wait.

use std::io::{self, Write};
use std::sync::Arc;

use agent_client_protocol::Error;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problems::refused;

/// How many requests may be under way.
const MOST_REQUESTS: usize = 256;
/// How many bytes prompts and servers may have that are held at once.
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// What may still be taken on.
#[derive(Debug)]
pub(crate) struct Admission {
    requests: Arc<Semaphore>,
    bytes: Arc<Semaphore>,
}

/// The place of a request under way, which is free when this is dropped.
#[derive(Debug)]
pub(crate) struct Admitted {
    _request: OwnedSemaphorePermit,
}

/// The room of what a request brought, which is free when this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    _bytes: OwnedSemaphorePermit,
}

impl Default for Admission {
    fn default() -> Self {
        Self {
            requests: Arc::new(Semaphore::new(MOST_REQUESTS)),
            bytes: Arc::new(Semaphore::new(MOST_BYTES)),
        }
    }
}

impl Admission {
    /// Takes a request on, if there is a place for it.
    pub(crate) fn admit(&self) -> Result<Admitted, Error> {
        let request = Arc::clone(&self.requests).try_acquire_owned();
        let request = request.map_err(|_| {
            refused(format!(
                "{MOST_REQUESTS} requests are under way, which is the most: try again when one is done"
            ))
        })?;
        Ok(Admitted { _request: request })
    }

    /// Takes a request on with what it brings, if there is room for that.
    pub(crate) fn admit_with(&self, brought: &impl Serialize) -> Result<(Admitted, Held), Error> {
        let admitted = self.admit()?;
        Ok((admitted, self.hold(weight(brought))?))
    }

    fn hold(&self, bytes: usize) -> Result<Held, Error> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let bytes = Arc::clone(&self.bytes).try_acquire_many_owned(bytes);
        let bytes = bytes.map_err(|_| {
            refused(format!(
                "prompts and servers of more than {} MiB are held, which is the most: try again when a turn \
                 is done or a session is closed",
                MOST_BYTES / (1024 * 1024)
            ))
        })?;
        Ok(Held { _bytes: bytes })
    }
}

/// How many bytes something has, as it is written.
fn weight(brought: &impl Serialize) -> usize {
    let mut scales = Scales(0);
    match serde_json::to_writer(&mut scales, brought) {
        Ok(()) => scales.0,
        // What can't be written can't be weighed, and is not taken.
        Err(_) => usize::MAX,
    }
}

/// Counts bytes.
struct Scales(usize);

impl Write for Scales {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_so_many_requests_and_not_more() {
        let admission = Admission::default();
        let mut admitted: Vec<_> = (0..MOST_REQUESTS).map(|_| admission.admit()).collect();
        assert!(admitted.iter().all(Result::is_ok));
        let error = admission.admit().unwrap_err();
        assert!(error.message.starts_with("256 requests are under way"));
        admitted.pop();
        admission.admit().unwrap();
    }

    #[test]
    fn so_much_is_held_and_not_more() {
        let admission = Admission::default();
        let most = admission.hold(MOST_BYTES - 5).unwrap();
        let (admitted, held) = admission.admit_with(&"abc").unwrap();
        // What is held is not free with the place of the request.
        drop(admitted);
        let error = admission.admit_with(&"").unwrap_err();
        assert!(error.message.contains("256 MiB"), "{}", error.message);
        admission.admit().unwrap();
        drop(held);
        admission.admit_with(&"abc").unwrap();
        drop(most);
    }
}
