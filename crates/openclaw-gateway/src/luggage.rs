//! How much is held in memory at once for all who ask: large requests while they are answered, and large
//! answers until they are read.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::response::Response;
use bytes::Bytes;
use http::HeaderMap;
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::body::{Unread, Whole, announced, next_part};

/// What is up to this size is not weighed.
const LIGHT: u64 = 64 * 1024;
/// How many MiB of chat completions are held at once: files stay in memory while a turn runs.
const CHATS: u32 = 320;
/// How many MiB of calls.
const CALLS: u32 = 320;
/// How many MiB of answers: some of the largest that servers may send.
pub const ANSWERS: u32 = 512;
/// What part of the room there is once more for answers that wait for it: they are in memory as well.
const WAITING: usize = 4;
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

/// Room for what is heavy, in KiB.
#[derive(Clone)]
pub(crate) struct Luggage {
    room: Arc<Semaphore>,
    most: usize,
    waiting: Arc<Semaphore>,
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
    pub(crate) fn new(mebibytes: u32) -> Self {
        let most = kibibytes(u64::from(mebibytes) << 20).min(Semaphore::MAX_PERMITS);
        Self {
            room: Arc::new(Semaphore::new(most)),
            most,
            waiting: Arc::new(Semaphore::new(most / WAITING)),
        }
    }

    /// Reads what comes with a request, which is guarded. It needs room once it turns out to be heavy, and not
    /// before: else whoever says that much will come, and sends nothing, would take it away from others. One that
    /// does not say how large it is needs more as it grows.
    pub(crate) async fn take_in(
        &self,
        headers: &HeaderMap,
        mut body: Body,
        limit: usize,
    ) -> Result<(Bytes, Option<Held>), Refused> {
        let announced = announced(headers);
        let (mut held, mut has_room_for) = (None, LIGHT);
        let mut whole = Whole::default();
        while let Some(part) = next_part(&mut body).await.map_err(Refused::Unread)? {
            let length = (whole.len() + part.len()) as u64;
            if length > has_room_for {
                has_room_for = announced.unwrap_or(length * 2).min(limit as u64);
                held = self.more(held, has_room_for).await?;
            }
            whole.add(part);
        }
        let held = no_more_than(held, whole.len());
        Ok((whole.into_bytes(), held))
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

    /// Waits for room for so many bytes in all, where there is room for some of them already.
    async fn more(&self, held: Option<Held>, bytes: u64) -> Result<Option<Held>, Full> {
        let has = held.as_ref().map_or(0, Held::num_permits);
        let needed = permits(bytes, self.most).saturating_sub(permits_of(has));
        let room = Arc::clone(&self.room).acquire_many_owned(needed);
        let Ok(room) = timeout(PATIENCE, room).await else {
            return Err(Full);
        };
        // It is never closed.
        let room = room.ok();
        Ok(match (held, room) {
            (Some(mut held), Some(room)) => {
                held.merge(room);
                Some(held)
            }
            (held, room) => held.or(room),
        })
    }

    /// Waits for room for something that is in memory while it waits.
    async fn hold(&self, bytes: u64) -> Result<Option<Held>, Full> {
        let room = Arc::clone(&self.room);
        if let Ok(room) = room.try_acquire_many_owned(permits(bytes, self.most)) {
            return Ok(Some(room));
        }
        let waiting = permits(bytes, self.most / WAITING);
        let _waits = self.waiting.try_acquire_many(waiting).map_err(|_| Full)?;
        self.more(None, bytes).await
    }
}

/// The room that something takes whose size is known now: what it does not need is for others.
fn no_more_than(room: Option<Held>, bytes: usize) -> Option<Held> {
    let bytes = bytes as u64;
    let mut room = room.filter(|_| bytes > LIGHT)?;
    let spare = room.num_permits().saturating_sub(kibibytes(bytes));
    drop(room.split(spare));
    Some(room)
}

/// How much room so many bytes take, of so much that there is.
fn permits(bytes: u64, most: usize) -> u32 {
    permits_of(kibibytes(bytes).min(most))
}

fn permits_of(kibibytes: usize) -> u32 {
    u32::try_from(kibibytes).unwrap_or(u32::MAX)
}

fn kibibytes(bytes: u64) -> usize {
    usize::try_from(bytes.div_ceil(1024)).unwrap_or(usize::MAX)
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
    use futures_util::FutureExt as _;
    use futures_util::stream::{self, StreamExt as _};
    use http::header::CONTENT_LENGTH;

    use super::*;

    const MIB: usize = 1 << 20;
    const LIMIT: usize = 64 * MIB;

    fn announcing(bytes: usize) -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_LENGTH, bytes.into())])
    }

    /// A body that comes in parts of so many bytes.
    fn parts(sizes: impl IntoIterator<Item = usize>) -> Body {
        let parts = sizes.into_iter().map(|size| vec![b'x'; size]);
        let parts: Vec<_> = parts.map(Ok::<_, std::io::Error>).collect();
        Body::from_stream(stream::iter(parts))
    }

    /// One of which nothing more comes.
    fn unfinished(size: usize) -> Body {
        let begun = stream::iter([Ok::<_, std::io::Error>(vec![b'x'; size])]);
        Body::from_stream(begun.chain(stream::pending()))
    }

    async fn take_in(
        luggage: &Luggage,
        headers: HeaderMap,
        body: Body,
    ) -> Result<(Bytes, Option<Held>), Refused> {
        luggage.take_in(&headers, body, LIMIT).await
    }

    #[tokio::test(start_paused = true)]
    async fn large_requests_wait_for_each_other_and_small_ones_do_not() {
        let luggage = Luggage::new(320);
        let mut held = Vec::new();
        for _ in 0..5 {
            let taken = take_in(&luggage, announcing(LIMIT), parts([LIMIT])).await;
            held.push(taken.unwrap().1);
        }
        let refused = take_in(&luggage, announcing(LIMIT), parts([LIMIT])).await;
        assert_eq!(refused.unwrap_err(), Refused::Full);
        let small = take_in(&luggage, announcing(100), parts([100])).await;
        assert!(small.unwrap().1.is_none());
        held.pop();
        let taken = take_in(&luggage, announcing(LIMIT), parts([LIMIT])).await;
        assert!(taken.unwrap().1.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_announced_and_does_not_come_takes_no_room() {
        let luggage = Luggage::new(64);
        let light = usize::try_from(LIGHT).unwrap();
        let waiting = unfinished(light);
        let mut waiting = std::pin::pin!(take_in(&luggage, announcing(LIMIT), waiting));
        assert!(waiting.as_mut().now_or_never().is_none());
        let taken = take_in(&luggage, announcing(LIMIT), parts([LIMIT])).await;
        assert!(taken.unwrap().1.is_some());
        // Once more of it has come than is left alone, there is room for all of it or none.
        let begun = unfinished(light + 1);
        let mut begun = std::pin::pin!(take_in(&luggage, announcing(LIMIT), begun));
        assert!(begun.as_mut().now_or_never().is_none());
        let refused = take_in(&luggage, announcing(MIB), parts([MIB])).await;
        assert_eq!(refused.unwrap_err(), Refused::Full);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_takes_as_much_room_as_it_turns_out_to_need() {
        let luggage = Luggage::new(16);
        let light = usize::try_from(LIGHT).unwrap();
        for (sizes, kibibytes) in [
            (vec![], None),
            (vec![10, light - 10], None),
            (vec![light + 1], Some(65)),
            (vec![MIB, 0, 1, 2 * MIB], Some(3 * 1024 + 1)),
            (vec![1; light + 1], Some(65)),
            (vec![light; 56], Some(56 * 64)),
        ] {
            let length = sizes.iter().sum();
            // Whether or not it says how large it is.
            for headers in [HeaderMap::new(), announcing(length)] {
                let taken = take_in(&luggage, headers, parts(sizes.clone())).await;
                let (whole, held) = taken.unwrap();
                assert!(whole.len() == length && whole.iter().all(|it| *it == b'x'));
                assert_eq!(held.as_ref().map(Held::num_permits), kibibytes, "{length}");
            }
        }
        // One that grows beyond what there is for it is given all there is, and no more.
        let (whole, held) = take_in(&luggage, HeaderMap::new(), parts([MIB; 20]))
            .await
            .unwrap();
        assert_eq!(whole.len(), 20 * MIB);
        assert_eq!(held.as_ref().map(Held::num_permits), Some(16 * 1024));
        let refused = take_in(&luggage, HeaderMap::new(), parts([MIB])).await;
        assert_eq!(refused.unwrap_err(), Refused::Full);
        drop(held);
        let begun = stream::iter([Ok(vec![b'x'; 10])]);
        let half = begun.chain(stream::iter([Err(std::io::Error::other("gone"))]));
        let broken = take_in(&luggage, HeaderMap::new(), Body::from_stream(half)).await;
        assert_eq!(broken.unwrap_err(), Refused::Unread(Unread::Broken));
    }

    fn answer(bytes: usize) -> Response {
        Response::new(Body::from(vec![b'x'; bytes]))
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_holds_its_room_until_its_last_byte_is_gone() {
        let luggage = Luggage::new(3);
        let large = || answer(2 * MIB);
        let weighed = luggage.weighed(large()).await.unwrap();
        assert_eq!(weighed.body().size_hint().exact(), Some(2 << 20));
        let mut rest = weighed.into_body().collect().await.unwrap().to_bytes();
        assert!(rest.iter().all(|byte| *byte == b'x'));
        assert_eq!(luggage.weighed(large()).await.unwrap_err(), Full);
        let last = rest.split_off(rest.len() - 1);
        drop(rest);
        assert_eq!(luggage.weighed(large()).await.unwrap_err(), Full);
        drop(last);
        luggage.weighed(large()).await.unwrap();
        let held = luggage.weighed(large()).await.unwrap();
        luggage.weighed(answer(100)).await.unwrap();
        drop(held);
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_answers_wait_for_room() {
        let luggage = Luggage::new(8);
        let held = luggage.weighed(answer(8 * MIB)).await.unwrap();
        // Two MiB may wait.
        let first = luggage.weighed(answer(MIB));
        let second = luggage.weighed(answer(MIB));
        let (mut first, mut second) = (std::pin::pin!(first), std::pin::pin!(second));
        assert!(first.as_mut().now_or_never().is_none());
        assert!(second.as_mut().now_or_never().is_none());
        let third = luggage.weighed(answer(MIB)).now_or_never();
        assert_eq!(third.expect("it does not wait").unwrap_err(), Full);
        drop(held);
        first.await.unwrap();
        second.await.unwrap();
        luggage.weighed(answer(8 * MIB)).await.unwrap();
    }
}
