//! What was handed over for a peer and not taken yet, answer by answer.
//!
//! Over HTTP/2 a peer may read one answer and not another. What it does not read is held for it, so that
//! somebody has to know for how long, and to give up that answer and no other.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, Abortable};
use hyper::body::{Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::time::Instant;

use crate::slowness::{FEW, Slowness};
use crate::wire::UNREAD;

/// How much of an answer is handed over at a time. The rest is asked for when there is room for it, which is
/// how it is known that the peer reads. It is as much as goes into a frame: the less it is, the slower a
/// connection may be that many large answers share.
const PORTION: usize = 16 * 1024;
/// From how many bytes on the last byte of a part is a portion of its own: it is asked for when all that
/// precedes it has been taken. What is smaller is not worth watching to its end.
const WATCHED: usize = 4 * 1024;

/// The answers of a connection of which something waits for the peer.
#[derive(Clone, Default)]
pub(super) struct Unread(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    next: u64,
    /// How the request is given up that is being gone on with: the answer that it makes is its own.
    current: Option<AbortHandle>,
    /// Until when a portion may wait, and how it is given up.
    until: BTreeMap<u64, (Instant, AbortHandle)>,
}

impl Unread {
    /// A request whose answer is watched, until it is answered or given up.
    pub(super) fn answering<F: Future<Output = ()>>(
        &self,
        answer: F,
    ) -> impl Future<Output = ()> + use<F> {
        let (handle, registration) = AbortHandle::new_pair();
        let noted = Noted {
            answer,
            handle,
            unread: self.clone(),
        };
        Abortable::new(noted, registration).map(drop)
    }

    /// The answer of the request that is being gone on with, handed over in portions.
    pub(super) fn watch(&self, body: Body) -> Portions {
        let mut waiting = self.lock();
        let number = waiting.next;
        waiting.next += 1;
        let handle = waiting.current.clone();
        drop(waiting);
        // Nothing is given up where nothing is gone on with.
        let handle = handle.unwrap_or_else(|| AbortHandle::new_pair().0);
        Portions {
            body,
            rest: Bytes::new(),
            handed_over: 0,
            slowness: Slowness::default(),
            number,
            handle,
            unread: self.clone(),
        }
    }

    /// Gives up the answers of which a portion has waited for too long, or that are taken too slowly.
    pub(super) fn give_up(&self, now: Instant) {
        let mut waiting = self.lock();
        let overdue = waiting.until.extract_if(.., |_, (until, _)| *until <= now);
        let overdue: Vec<_> = overdue.map(|(_, (_, handle))| handle).collect();
        drop(waiting);
        for handle in overdue {
            tracing::debug!("a peer does not read an answer");
            handle.abort();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pin_project! {
    /// A request that says which one it is whenever it is gone on with.
    struct Noted<F> {
        #[pin]
        answer: F,
        handle: AbortHandle,
        unread: Unread,
    }
}

impl<F: Future<Output = ()>> Future for Noted<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let noted = self.project();
        noted.unread.lock().current = Some(noted.handle.clone());
        noted.answer.poll(context)
    }
}

/// An answer that is handed over in portions.
pub(super) struct Portions {
    body: Body,
    /// What is left of the part that was read last.
    rest: Bytes,
    /// How large the last portion was.
    handed_over: usize,
    slowness: Slowness,
    number: u64,
    handle: AbortHandle,
    unread: Unread,
}

impl HttpBody for Portions {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        // Whoever asks for more has got rid of what there was.
        let mut waiting = self.unread.lock();
        let sharing = (waiting.until.len() / FEW).max(1);
        waiting.until.remove(&self.number);
        drop(waiting);
        let taken = std::mem::take(&mut self.handed_over);
        self.slowness.moved(taken.saturating_mul(sharing));
        let is_new = self.rest.is_empty();
        if is_new {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                end => return Poll::Ready(end),
            }
        }
        let length = match self.rest.len() {
            more @ (WATCHED..=PORTION) => more - 1,
            any => any.min(PORTION),
        };
        let mut portion = self.rest.split_to(length);
        if !is_new && length < WATCHED {
            // Nobody watches over the end: it must not hold on to the memory of all that came before.
            portion = Bytes::copy_from_slice(&portion);
        }
        self.handed_over = portion.len();
        let waiting = (self.slowness.waits(UNREAD), self.handle.clone());
        let number = self.number;
        self.unread.lock().until.insert(number, waiting);
        Poll::Ready(Some(Ok(Frame::data(portion))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, hint) = (self.rest.len() as u64, self.body.size_hint());
        let mut whole = SizeHint::new();
        whole.set_lower(hint.lower().saturating_add(rest));
        if let Some(upper) = hint.upper() {
            whole.set_upper(upper.saturating_add(rest));
        }
        whole
    }
}

impl Drop for Portions {
    fn drop(&mut self) {
        self.unread.lock().until.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::time::Duration;

    use futures_util::stream::{self, StreamExt as _};
    use http_body_util::BodyExt as _;

    use super::*;

    impl Unread {
        /// Until when the portion may wait that has waited the longest.
        fn until(&self) -> Option<Instant> {
            let waiting = self.lock();
            waiting.until.values().map(|(until, _)| *until).min()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_answer_is_handed_over_in_portions_that_are_counted_until_they_are_taken() {
        let unread = Unread::default();
        let whole: Vec<u8> = (0..=u8::MAX).cycle().take(PORTION * 2 + 1).collect();
        let mut body = unread.watch(Body::from(whole.clone()));
        assert_eq!(body.size_hint().exact(), Some(whole.len() as u64));
        assert_eq!(unread.until(), None);

        let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(first.len(), PORTION);
        assert_eq!(body.size_hint().exact(), Some(PORTION as u64 + 1));
        let began = Instant::now();
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(unread.until(), Some(began + UNREAD));

        let second = body.frame().await.unwrap().unwrap().into_data().unwrap();
        // It was behind by less than what it has taken.
        let portion = Duration::from_millis(PORTION as u64 * 1_000 / (32 * 1024));
        let left = Duration::from_secs(25) + portion;
        assert_eq!(unread.until(), Some(Instant::now() + left));
        assert!(!body.is_end_stream());
        let last = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(body.is_end_stream());
        assert_eq!([first, second, last].concat(), whole);
        drop(body);
        assert_eq!(unread.until(), None);

        // The end is asked for when the rest has been taken.
        for (length, portions) in [
            (1, vec![1]),
            (WATCHED - 1, vec![WATCHED - 1]),
            (WATCHED, vec![WATCHED - 1, 1]),
            (PORTION, vec![PORTION - 1, 1]),
            (PORTION + WATCHED, vec![PORTION, WATCHED - 1, 1]),
        ] {
            let mut body = unread.watch(Body::from(vec![0; length]));
            for portion in portions {
                assert!(!body.is_end_stream());
                let data = body.frame().await.unwrap().unwrap().into_data().unwrap();
                assert_eq!(data.len(), portion, "of {length}");
            }
            assert!(body.is_end_stream());
        }
    }

    /// A future that hands over the first portion of an answer, and waits for more to be taken.
    async fn handing_over(unread: Unread) {
        let mut body = unread.watch(Body::from(vec![0; PORTION * 2]));
        body.frame().await.unwrap().unwrap();
        std::future::pending::<()>().await;
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_taken_is_given_up_and_nothing_else() {
        let unread = Unread::default();
        let mut first = pin!(unread.answering(handing_over(unread.clone())));
        assert!(first.as_mut().now_or_never().is_none());
        let began = Instant::now();
        tokio::time::sleep(Duration::from_secs(5)).await;
        let mut second = pin!(unread.answering(handing_over(unread.clone())));
        assert!(second.as_mut().now_or_never().is_none());
        // Going on with one says nothing about the answer of the other.
        assert!(first.as_mut().now_or_never().is_none());
        unread.give_up(began + UNREAD - Duration::from_millis(1));
        assert!(first.as_mut().now_or_never().is_none());
        unread.give_up(began + UNREAD);
        assert!(first.as_mut().now_or_never().is_some());
        assert!(second.as_mut().now_or_never().is_none());
        unread.give_up(Instant::now() + UNREAD);
        assert!(second.as_mut().now_or_never().is_some());
        assert_eq!(unread.until(), None);
    }

    /// Bytes that say when nobody has them any longer.
    struct Held {
        bytes: Vec<u8>,
        _held: Arc<()>,
    }

    impl AsRef<[u8]> for Held {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }

    #[tokio::test]
    async fn the_end_of_a_large_part_does_not_hold_on_to_all_of_it() {
        for end in [1, WATCHED - 1, WATCHED, WATCHED + 1] {
            let held = Arc::new(());
            let bytes = Bytes::from_owner(Held {
                bytes: vec![0; PORTION + end],
                _held: Arc::clone(&held),
            });
            let mut body = Unread::default().watch(Body::from(bytes));
            let mut last = None;
            while let Some(frame) = body.frame().await {
                last = Some(frame.unwrap().into_data().unwrap());
            }
            drop(body);
            assert!(last.is_some());
            assert_eq!(Arc::strong_count(&held), 1, "{end}");
        }
    }

    #[tokio::test]
    async fn one_that_is_dropped_is_not_counted_any_longer() {
        let unread = Unread::default();
        let mut body = unread.watch(Body::from(vec![0; PORTION * 2]));
        body.frame().await.unwrap().unwrap();
        assert!(unread.until().is_some());
        drop(body);
        assert_eq!(unread.until(), None);
    }

    #[tokio::test]
    async fn one_that_waits_for_more_to_say_does_not_wait_for_its_peer() {
        let unread = Unread::default();
        let said = stream::iter([Ok::<_, std::io::Error>(Bytes::from("said"))]);
        let silent = said.chain(stream::pending());
        let mut body = unread.watch(Body::from_stream(silent));
        body.frame().await.unwrap().unwrap();
        assert!(unread.until().is_some());
        assert!(body.frame().now_or_never().is_none());
        assert_eq!(unread.until(), None);
    }
}
