//! How many bytes of requests are held at once.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::problem::Problem;

/// How large the body of a request may be, in bytes.
pub(super) const BODY_LIMIT: usize = 64 * 1024 * 1024;
/// Requests up to this size are taken in without being weighed.
const LIGHT: u64 = 1024 * 1024;
/// How many MiB of others are held at once: files stay in memory while a turn runs.
const MOST: u32 = 320;
/// How long a request waits until there is room for it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Room for requests.
pub(super) struct Luggage {
    room: Arc<Semaphore>,
}

impl Default for Luggage {
    fn default() -> Self {
        let permits = usize::try_from(MOST).unwrap_or(usize::MAX);
        Self {
            room: Arc::new(Semaphore::new(permits)),
        }
    }
}

impl Luggage {
    /// Waits until there is room for a request, and holds it until that is dropped. A request that does
    /// not say how large it is may be as large as any.
    pub(super) async fn room_for(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<OwnedSemaphorePermit>, Problem> {
        let length = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok());
        let most = BODY_LIMIT as u64;
        let bytes = length.and_then(|it| it.parse().ok()).unwrap_or(most);
        if bytes <= LIGHT {
            return Ok(None);
        }
        let mebibytes = u32::try_from(mebibytes(bytes.min(most))).unwrap_or(MOST);
        let room = Arc::clone(&self.room).acquire_many_owned(mebibytes.min(MOST));
        match timeout(PATIENCE, room).await {
            // It is never closed.
            Ok(room) => Ok(room.ok()),
            Err(_) => Err(Problem::busy(
                "too many large requests are being answered; try again later",
            )),
        }
    }
}

/// The room that a request takes whose size is known now: what it does not need is for others.
pub(super) fn no_more_than(
    room: Option<OwnedSemaphorePermit>,
    bytes: usize,
) -> Option<OwnedSemaphorePermit> {
    let bytes = bytes as u64;
    let mut room = room.filter(|_| bytes > LIGHT)?;
    let needed = usize::try_from(mebibytes(bytes)).unwrap_or(usize::MAX);
    let spare = room.num_permits().saturating_sub(needed);
    drop(room.split(spare));
    Some(room)
}

fn mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}
