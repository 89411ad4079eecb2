//! How much is held in memory at once for all who ask: large requests while they are answered, and large
//! answers until they are read.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::response::Response;
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::HeaderMap;
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::unconstrained;
use tokio::time::timeout;

use crate::body::{Incomplete, Whole, announced, next_part};

/// What is up to this size is not weighed.
const LIGHT: u64 = 4 * 1024;
/// What is up to this size does not wait behind what is larger: it has room of its own.
const SMALL: u64 = 1024 * 1024;
/// What part of the room there is once more for that.
const FOR_SMALL: usize = 8;
/// How many MiB of chat completions are held at once: files stay in memory while a turn runs.
const CHATS: u32 = 320;
/// How many MiB of calls.
const CALLS: u32 = 320;
/// How many MiB of answers: some of the largest that servers may send.
pub const ANSWERS: u32 = 512;
/// What part of the room there is once more for answers that wait for it: they are in memory as well.
const WAITING: usize = 4;
/// What part of the room one may have who asks for many things at a time, and what part of that for waiting.
const SHARES: usize = 4;
const WAITING_SHARES: usize = 2;
/// How many requests of one such may wait for room while they come: what has come of them fills what its connection may
/// send ahead, and then the others of it don't come either.
const COMING_SHARE: usize = 3;
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
    /// Not all of it came.
    Incomplete(Incomplete),
}

impl From<Full> for Refused {
    fn from(Full: Full) -> Self {
        Self::Full
    }
}

/// Room for something heavy; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    place: Place,
    /// The same of what one may have.
    share: Option<OwnedSemaphorePermit>,
}

/// A place in one of the rooms.
#[derive(Debug)]
struct Place {
    room: OwnedSemaphorePermit,
    /// The same of what one may have of that room alone.
    share: Option<OwnedSemaphorePermit>,
}

/// Room for what is heavy.
#[derive(Clone)]
pub(crate) struct Luggage {
    /// For anything.
    large: Room,
    /// Once more, for what is small.
    small: Room,
    waiting: Room,
    /// What one may have of it, where there are others.
    share: Option<Share>,
}

/// What one may have who asks for many things at a time.
#[derive(Clone)]
struct Share {
    /// In all.
    whole: Room,
    /// Of the room for what is small: the rest is for others.
    small: Room,
    waiting: Room,
    coming: Arc<Semaphore>,
}

/// So many KiB.
#[derive(Clone)]
struct Room {
    free: Arc<Semaphore>,
    most: usize,
}

impl Room {
    fn new(kibibytes: usize) -> Self {
        let most = kibibytes.min(Semaphore::MAX_PERMITS);
        Self {
            free: Arc::new(Semaphore::new(most)),
            most,
        }
    }

    /// How much of it so many bytes take: all that there is, where they are more.
    fn permits(&self, bytes: u64) -> u32 {
        u32::try_from(kibibytes(bytes).min(self.most)).unwrap_or(u32::MAX)
    }

    fn try_hold(&self, bytes: u64) -> Option<OwnedSemaphorePermit> {
        let free = Arc::clone(&self.free);
        free.try_acquire_many_owned(self.permits(bytes)).ok()
    }

    /// Waits for room for so many bytes, where there is room for some of them already.
    async fn hold(
        &self,
        held: Option<OwnedSemaphorePermit>,
        bytes: u64,
    ) -> Option<OwnedSemaphorePermit> {
        let held = held.filter(|held| Arc::ptr_eq(held.semaphore(), &self.free));
        let has = held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let has = u32::try_from(has).unwrap_or(u32::MAX);
        let needed = self.permits(bytes).saturating_sub(has);
        let room = Arc::clone(&self.free).acquire_many_owned(needed);
        // It is never closed.
        let room = room.await.ok()?;
        Some(match held {
            Some(mut held) => {
                held.merge(room);
                held
            }
            None => room,
        })
    }
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
        let most = kibibytes(u64::from(mebibytes) << 20);
        Self {
            large: Room::new(most),
            small: Room::new(most / FOR_SMALL),
            waiting: Room::new(most / WAITING),
            share: None,
        }
    }

    /// The same room, for one of several who may have a share of it.
    pub(crate) fn share(&self) -> Self {
        Self {
            share: Some(Share {
                whole: Room::new(self.large.most / SHARES),
                small: Room::new(self.small.most / SHARES),
                waiting: Room::new(self.waiting.most / WAITING_SHARES),
                coming: Arc::new(Semaphore::new(COMING_SHARE)),
            }),
            ..self.clone()
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
        while let Some(part) = next_part(&mut body).await.map_err(Refused::Incomplete)? {
            let length = (whole.len() + part.len()) as u64;
            if length > has_room_for {
                has_room_for = match announced {
                    Some(announced) => announced,
                    // Those who need more and more would have each of them wait for the others, unless the others are
                    // their own.
                    None if length > SMALL && self.share.is_none() => limit as u64,
                    None if length > SMALL => length * 2,
                    None => (length * 2).min(SMALL),
                }
                .min(limit as u64);
                held = Some(self.more_while_it_comes(held, has_room_for).await?);
            }
            whole.add(part);
        }
        let length = whole.len() as u64;
        let held = held.filter(|_| length > LIGHT);
        Ok((
            whole.into_bytes(),
            held.map(|held| held.no_more_than(length)),
        ))
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

    /// Room for so many bytes in all of a request that is still coming, where there is room for some of them already.
    async fn more_while_it_comes(&self, held: Option<Held>, bytes: u64) -> Result<Held, Full> {
        // Whether there is room must not depend on how much its task has done.
        let mut more = pin!(unconstrained(self.more(held, bytes)));
        if let Some(held) = more.as_mut().now_or_never() {
            return held;
        }
        let _coming = match &self.share {
            Some(share) => Some(share.coming.try_acquire().map_err(|_| Full)?),
            None => None,
        };
        more.await
    }

    /// Waits for room for so many bytes in all, where there is room for some of them already.
    async fn more(&self, held: Option<Held>, bytes: u64) -> Result<Held, Full> {
        let (place, share) = held.map_or((None, None), |held| (Some(held.place), held.share));
        let more = async {
            // One that waits for its own share takes nothing from others meanwhile.
            let share = match &self.share {
                Some(own) => Some(own.whole.hold(share, bytes).await?),
                None => None,
            };
            let place = self.place(place, bytes).await?;
            Some(Held { place, share })
        };
        timeout(PATIENCE, more).await.ok().flatten().ok_or(Full)
    }

    /// Waits for a place in any room that will do.
    async fn place(&self, held: Option<Place>, bytes: u64) -> Option<Place> {
        let is_large = |place: &Place| Arc::ptr_eq(place.room.semaphore(), &self.large.free);
        if bytes > SMALL || held.as_ref().is_some_and(is_large) {
            return self.large_place(held, bytes).await;
        }
        tokio::select! {
            biased;
            place = self.small_place(held, bytes) => place,
            place = self.large_place(None, bytes) => place,
        }
    }

    async fn small_place(&self, held: Option<Place>, bytes: u64) -> Option<Place> {
        let (room, share) = held.map_or((None, None), |held| (Some(held.room), held.share));
        let share = match &self.share {
            Some(own) => Some(own.small.hold(share, bytes).await?),
            None => None,
        };
        let room = self.small.hold(room, bytes).await?;
        Some(Place { room, share })
    }

    async fn large_place(&self, held: Option<Place>, bytes: u64) -> Option<Place> {
        let room = self.large.hold(held.map(|held| held.room), bytes).await?;
        Some(Place { room, share: None })
    }

    /// Waits for room for something that is in memory while it waits.
    async fn hold(&self, bytes: u64) -> Result<Held, Full> {
        let mut more = pin!(unconstrained(self.more(None, bytes)));
        if let Some(held) = more.as_mut().now_or_never() {
            return held;
        }
        let _waits = self.waiting.try_hold(bytes).ok_or(Full)?;
        let _own = match &self.share {
            Some(own) => Some(own.waiting.try_hold(bytes).ok_or(Full)?),
            None => None,
        };
        more.await
    }
}

impl Held {
    /// As much as something takes whose size is known now: what it does not need is for others.
    fn no_more_than(mut self, bytes: u64) -> Self {
        let needed = kibibytes(bytes);
        let Place { room, share } = &mut self.place;
        let all = [Some(room), share.as_mut(), self.share.as_mut()];
        for held in all.into_iter().flatten() {
            let spare = held.num_permits().saturating_sub(needed);
            drop(held.split(spare));
        }
        self
    }
}

fn kibibytes(bytes: u64) -> usize {
    usize::try_from(bytes.div_ceil(1024)).unwrap_or(usize::MAX)
}

/// Bytes that hold their room.
struct Weighed {
    bytes: Bytes,
    _held: Held,
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

    impl Held {
        fn kibibytes(&self) -> usize {
            self.place.room.num_permits()
        }
    }

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
        let large = 2 * MIB;
        let refused = take_in(&luggage, announcing(large), parts([large])).await;
        assert_eq!(refused.unwrap_err(), Refused::Full);
        // What is smaller does not wait behind it.
        let taken = take_in(&luggage, announcing(MIB), parts([MIB])).now_or_never();
        assert!(taken.expect("it does not wait").unwrap().1.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_takes_as_much_room_as_it_turns_out_to_need() {
        let luggage = Luggage::new(16);
        let light = usize::try_from(LIGHT).unwrap();
        for (sizes, kibibytes) in [
            (vec![], None),
            (vec![10, light - 10], None),
            (vec![light + 1], Some(5)),
            (vec![MIB, 0, 1, 2 * MIB], Some(3 * 1024 + 1)),
            (vec![1; light + 1], Some(5)),
            (vec![light; 56], Some(56 * 4)),
        ] {
            let length = sizes.iter().sum();
            // Whether or not it says how large it is.
            for headers in [HeaderMap::new(), announcing(length)] {
                let taken = take_in(&luggage, headers, parts(sizes.clone())).await;
                let (whole, held) = taken.unwrap();
                assert!(whole.len() == length && whole.iter().all(|it| *it == b'x'));
                assert_eq!(held.as_ref().map(Held::kibibytes), kibibytes, "{length}");
            }
        }
        // One that grows beyond what there is for it is given all there is, and no more.
        let (whole, held) = take_in(&luggage, HeaderMap::new(), parts([MIB; 20]))
            .await
            .unwrap();
        assert_eq!(whole.len(), 20 * MIB);
        assert_eq!(held.as_ref().map(Held::kibibytes), Some(16 * 1024));
        let refused = take_in(&luggage, HeaderMap::new(), parts([MIB, 1])).await;
        assert_eq!(refused.unwrap_err(), Refused::Full);
        drop(held);
        let begun = stream::iter([Ok(vec![b'x'; 10])]);
        let half = begun.chain(stream::iter([Err(std::io::Error::other("gone"))]));
        let broken = take_in(&luggage, HeaderMap::new(), Body::from_stream(half)).await;
        assert_eq!(broken.unwrap_err(), Refused::Incomplete(Incomplete::Broken));
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
        let luggage = Luggage::new(16);
        let held = luggage.weighed(answer(16 * MIB)).await.unwrap();
        // Four MiB may wait.
        let first = luggage.weighed(answer(2 * MIB));
        let second = luggage.weighed(answer(2 * MIB));
        let (mut first, mut second) = (std::pin::pin!(first), std::pin::pin!(second));
        assert!(first.as_mut().now_or_never().is_none());
        assert!(second.as_mut().now_or_never().is_none());
        let third = luggage.weighed(answer(2 * MIB)).now_or_never();
        assert_eq!(third.expect("it does not wait").unwrap_err(), Full);
        // What is small has room of its own.
        luggage.weighed(answer(MIB)).await.unwrap();
        drop(held);
        first.await.unwrap();
        second.await.unwrap();
        luggage.weighed(answer(16 * MIB)).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn one_of_several_has_its_share_and_leaves_the_rest_to_others() {
        let luggage = Luggage::new(64);
        let (greedy, other) = (luggage.share(), luggage.share());
        // Sixteen MiB, of whatever size.
        let mut held = Vec::new();
        for size in [10 * MIB, 5 * MIB, MIB] {
            held.push(greedy.weighed(answer(size)).await.unwrap());
        }
        assert_eq!(greedy.weighed(answer(MIB)).await.unwrap_err(), Full);
        assert_eq!(greedy.weighed(answer(2 * MIB)).await.unwrap_err(), Full);
        greedy.weighed(answer(100)).await.unwrap();
        other.weighed(answer(16 * MIB)).await.unwrap();
        luggage.weighed(answer(48 * MIB)).await.unwrap();
        drop(held);
        // One that is larger than the share is alone in it.
        let held = greedy.weighed(answer(40 * MIB)).await.unwrap();
        assert_eq!(greedy.weighed(answer(2 * MIB)).await.unwrap_err(), Full);
        other.weighed(answer(16 * MIB)).await.unwrap();
        drop(held);
        greedy.weighed(answer(2 * MIB)).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn one_of_several_does_not_have_all_the_room_for_what_is_small() {
        let luggage = Luggage::new(64);
        let greedy = luggage.share();
        let mut held = Vec::new();
        for _ in 0..16 {
            let taken = take_in(&greedy, announcing(MIB), parts([MIB])).await;
            held.push(taken.unwrap().1);
        }
        let refused = take_in(&greedy, announcing(MIB), parts([MIB])).await;
        assert_eq!(refused.unwrap_err(), Refused::Full);
        // Two of the eight are small ones of the greedy, and the others are among what is large.
        held.push(
            take_in(&luggage, announcing(50 * MIB), parts([50 * MIB]))
                .await
                .unwrap()
                .1,
        );
        for _ in 0..6 {
            let taken = take_in(&luggage, announcing(MIB), parts([MIB])).now_or_never();
            held.push(taken.expect("it does not wait").unwrap().1);
        }
        let refused = take_in(&luggage, announcing(MIB), parts([MIB])).await;
        assert_eq!(refused.unwrap_err(), Refused::Full);
    }

    #[tokio::test(start_paused = true)]
    async fn one_of_several_does_not_have_all_the_waiting() {
        let luggage = Luggage::new(64);
        let (greedy, other) = (luggage.share(), luggage.share());
        let held = luggage.weighed(answer(64 * MIB)).await.unwrap();
        // Sixteen MiB may wait, eight of them for one.
        let first = greedy.weighed(answer(6 * MIB));
        let mut first = std::pin::pin!(first);
        assert!(first.as_mut().now_or_never().is_none());
        let second = greedy.weighed(answer(4 * MIB)).now_or_never();
        assert_eq!(second.expect("it does not wait").unwrap_err(), Full);
        let others = other.weighed(answer(8 * MIB));
        let mut others = std::pin::pin!(others);
        assert!(others.as_mut().now_or_never().is_none());
        drop(held);
        first.await.unwrap();
        others.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_few_requests_of_one_wait_while_they_come() {
        let luggage = Luggage::new(64);
        let greedy = luggage.share();
        let held = take_in(&greedy, announcing(16 * MIB), parts([16 * MIB])).await;
        let mut waiting = Vec::new();
        for _ in 0..COMING_SHARE {
            let greedy = greedy.clone();
            let mut more =
                Box::pin(async move { take_in(&greedy, announcing(MIB), parts([MIB])).await });
            assert!(more.as_mut().now_or_never().is_none());
            waiting.push(more);
        }
        let refused = take_in(&greedy, announcing(MIB), parts([MIB])).now_or_never();
        assert_eq!(
            refused.expect("it does not wait").unwrap_err(),
            Refused::Full
        );
        drop(held);
        for more in waiting {
            more.await.unwrap();
        }
    }
}
