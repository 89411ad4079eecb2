//! How much is held in memory at once for all who ask: large requests while they are answered, and large
//! answers until they are read.

mod room;
#[cfg(test)]
mod tests;

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
use room::{Room, kibibytes};

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
        let is_large = |place: &Place| self.large.is_held_by(&place.room);
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
