//! How much is held in memory at once for all who ask: large requests while they are answered, and large
//! answers until they are read.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::response::Response;
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::body::{Unread, unread};

/// What is up to this size is not weighed.
const LIGHT: u64 = 1024 * 1024;
/// How many MiB of chat completions are held at once: files stay in memory while a turn runs.
const CHATS: u32 = 320;
/// How many MiB of calls.
const CALLS: u32 = 320;
/// How many MiB of answers: some of the largest that servers may send.
pub const ANSWERS: u32 = 512;
/// How long something waits until there is room for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// There is no room, and there was none for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// Why a request was not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There is no room for it.
    Full,
    /// It could not be read.
    Unread(Unread),
}

impl From<Full> for Refused {
    fn from(Full: Full) -> Self {
        Self::Full
    }
}

/// Room for something heavy; it is free again when this is dropped.
pub(crate) type Held = OwnedSemaphorePermit;

/// Room for what is heavy.
#[derive(Clone)]
pub(crate) struct Luggage {
    room: Arc<Semaphore>,
    most: u32,
}

impl Luggage {
    /// Room for chat completions.
    pub(crate) fn of_chats() -> Self {
        Self::new(CHATS)
    }

    /// Room for calls.
    pub(crate) fn of_calls() -> Self {
        Self::new(CALLS)
    }

    /// Room for so many MiB.
    pub(crate) fn new(most: u32) -> Self {
        Self {
            room: Arc::new(Semaphore::new(usize::try_from(most).unwrap_or(usize::MAX))),
            most,
        }
    }

    /// Waits until there is room for a request that may be as large as this, and holds it until that is dropped.
    /// One that does not say how large it is may be as large as any.
    pub(crate) async fn room_for(
        &self,
        headers: &HeaderMap,
        limit: usize,
    ) -> Result<Option<Held>, Full> {
        let length = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok());
        let limit = limit as u64;
        let announced = length.and_then(|it| it.parse().ok()).unwrap_or(limit);
        self.hold(announced.min(limit)).await
    }

    /// Reads what comes with a request, which is guarded. It needs room once it turns out to be heavy, and not
    /// before: else whoever says that much will come, and sends nothing, would take it away from others.
    pub(crate) async fn take_in(
        &self,
        headers: &HeaderMap,
        mut body: Body,
        limit: usize,
    ) -> Result<(Bytes, Option<Held>), Refused> {
        let mut held = None;
        let mut parts = Vec::new();
        let mut length = 0;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| Refused::Unread(unread(&error)))?;
            let Ok(part) = frame.into_data() else {
                continue;
            };
            length += part.len();
            if held.is_none() && length as u64 > LIGHT {
                held = self.room_for(headers, limit).await?;
            }
            parts.push(part);
        }
        let whole = match <[Bytes; 1]>::try_from(parts) {
            Ok([only]) => only,
            Err(parts) => parts.concat().into(),
        };
        Ok((whole, no_more_than(held, length)))
    }

    /// The same answer, which holds its room until nothing of it is in memory any longer.
    pub(crate) async fn weighed(&self, response: Response) -> Result<Response, Full> {
        let size = response.body().size_hint().exact().unwrap_or_default();
        if size <= LIGHT {
            return Ok(response);
        }
        let held = self.hold(size).await?;
        let (parts, body) = response.into_parts();
        // It is there already, as one.
        let body = match body.collect().await {
            Ok(collected) => Body::from(Bytes::from_owner(Weighed {
                bytes: collected.to_bytes(),
                _held: held,
            })),
            Err(_) => Body::empty(),
        };
        Ok(Response::from_parts(parts, body))
    }

    async fn hold(&self, bytes: u64) -> Result<Option<Held>, Full> {
        if bytes <= LIGHT {
            return Ok(None);
        }
        let mebibytes = u32::try_from(mebibytes(bytes)).unwrap_or(self.most);
        let room = Arc::clone(&self.room).acquire_many_owned(mebibytes.min(self.most));
        match timeout(PATIENCE, room).await {
            // It is never closed.
            Ok(room) => Ok(room.ok()),
            Err(_) => Err(Full),
        }
    }
}

/// The room that something takes whose size is known now: what it does not need is for others.
pub(crate) fn no_more_than(room: Option<Held>, bytes: usize) -> Option<Held> {
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

/// Bytes that hold their room.
struct Weighed {
    bytes: Bytes,
    _held: Option<Held>,
}

impl AsRef<[u8]> for Weighed {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 64 << 20;

    fn announced(bytes: usize) -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_LENGTH, bytes.into())])
    }

    #[tokio::test(start_paused = true)]
    async fn large_requests_wait_for_each_other_and_small_ones_do_not() {
        let luggage = Luggage::of_chats();
        let room = async |headers| luggage.room_for(&headers, LIMIT).await;
        let mut held = Vec::new();
        for _ in 0..5 {
            held.push(room(HeaderMap::new()).await.unwrap());
        }
        assert_eq!(room(announced(LIMIT)).await.unwrap_err(), Full);
        assert!(room(announced(100)).await.unwrap().is_none());
        held.pop();
        assert!(room(announced(LIMIT)).await.unwrap().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_request_turns_out_not_to_need_is_for_others() {
        let luggage = Luggage::of_chats();
        let room = async || luggage.room_for(&HeaderMap::new(), LIMIT).await;
        let mut held = Vec::new();
        for bytes in [10, 1 << 20, (1 << 20) + 1, 10 << 20, LIMIT] {
            held.push(no_more_than(room().await.unwrap(), bytes));
        }
        let permits = |it: &Option<Held>| it.as_ref().map(Held::num_permits);
        let taken: Vec<_> = held.iter().map(permits).collect();
        assert_eq!(taken, [None, None, Some(2), Some(10), Some(64)]);
        // 244 MiB are left, which are three more that could be as large as any.
        for _ in 0..3 {
            held.push(room().await.unwrap());
        }
        assert_eq!(room().await.unwrap_err(), Full);
    }

    /// A body that comes in parts of so many bytes.
    fn parts<const COUNT: usize>(sizes: [usize; COUNT]) -> Body {
        let parts = sizes.map(|size| Ok::<_, std::io::Error>(vec![b'x'; size]));
        Body::from_stream(futures_util::stream::iter(parts))
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_needs_room_once_it_is_heavy_and_as_much_as_it_is() {
        const MIB: usize = 1 << 20;
        let luggage = Luggage::new(16);
        let take_in = async |body| luggage.take_in(&HeaderMap::new(), body, 16 * MIB).await;
        let (whole, held) = take_in(parts([])).await.unwrap();
        assert!(whole.is_empty() && held.is_none());
        let (whole, held) = take_in(parts([10, MIB - 10])).await.unwrap();
        assert!(whole.len() == MIB && held.is_none());
        let (whole, held) = take_in(parts([MIB, 0, 1, 2 * MIB])).await.unwrap();
        assert_eq!(whole.len(), 3 * MIB + 1);
        assert_eq!(held.as_ref().map(Held::num_permits), Some(4));
        // What does not say how large it is may be as large as any.
        let refused = take_in(parts([MIB, 1])).await.unwrap_err();
        assert_eq!(refused, Refused::Full);
        take_in(parts([MIB])).await.unwrap();
        drop(held);
        let half = futures_util::StreamExt::chain(
            futures_util::stream::iter([Ok(vec![b'x'; 10])]),
            futures_util::stream::iter([Err(std::io::Error::other("gone"))]),
        );
        let broken = take_in(Body::from_stream(half)).await.unwrap_err();
        assert_eq!(broken, Refused::Unread(Unread::Broken));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_holds_its_room_until_its_last_byte_is_gone() {
        let luggage = Luggage::new(3);
        let answer = || Response::new(Body::from(vec![b'x'; (1 << 20) + 1]));
        let weighed = luggage.weighed(answer()).await.unwrap();
        assert_eq!(weighed.body().size_hint().exact(), Some((1 << 20) + 1));
        let mut rest = weighed.into_body().collect().await.unwrap().to_bytes();
        assert!(rest.iter().all(|byte| *byte == b'x'));
        assert_eq!(luggage.weighed(answer()).await.unwrap_err(), Full);
        let last = rest.split_off(rest.len() - 1);
        drop(rest);
        assert_eq!(luggage.weighed(answer()).await.unwrap_err(), Full);
        drop(last);
        luggage.weighed(answer()).await.unwrap();
        let small = Response::new(Body::from("small"));
        let held = luggage.weighed(answer()).await.unwrap();
        luggage.weighed(small).await.unwrap();
        drop(held);
    }
}
