//! What was handed over for a peer and not taken yet, answer by answer.
//!
//! Over HTTP/2 a peer may read one answer and not another. What it does not read is held for it, so that
//! somebody has to know for how long.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::time::Instant;

/// How much of an answer is handed over at a time. The rest is asked for when there is room for it, which is
/// how it is known that the peer reads.
const PORTION: usize = 64 * 1024;
/// From how many bytes on the last byte of a part is a portion of its own: it is asked for when all that
/// precedes it has been taken. What is smaller is not worth watching to its end.
const WATCHED: usize = 4 * 1024;

/// The answers of a connection of which something waits for the peer.
#[derive(Clone, Default)]
pub(super) struct Unread(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    next: u64,
    since: BTreeMap<u64, Instant>,
}

impl Unread {
    /// An answer that is handed over in portions.
    pub(super) fn watch(&self, body: Body) -> Portions {
        let mut waiting = self.lock();
        let number = waiting.next;
        waiting.next += 1;
        drop(waiting);
        Portions {
            body,
            rest: Bytes::new(),
            number,
            unread: self.clone(),
        }
    }

    /// Since when the portion waits that has waited the longest.
    pub(super) fn since(&self) -> Option<Instant> {
        self.lock().since.values().min().copied()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer that is handed over in portions.
pub(super) struct Portions {
    body: Body,
    /// What is left of the part that was read last.
    rest: Bytes,
    number: u64,
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
        self.unread.lock().since.remove(&self.number);
        if self.rest.is_empty() {
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
        let portion = self.rest.split_to(length);
        let number = self.number;
        self.unread.lock().since.insert(number, Instant::now());
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
        self.unread.lock().since.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_large_answer_is_handed_over_in_portions_that_are_counted_until_they_are_taken() {
        let unread = Unread::default();
        let whole: Vec<u8> = (0..=u8::MAX).cycle().take(PORTION * 2 + 1).collect();
        let mut body = unread.watch(Body::from(whole.clone()));
        assert_eq!(body.size_hint().exact(), Some(whole.len() as u64));
        assert_eq!(unread.since(), None);

        let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(first.len(), PORTION);
        assert_eq!(body.size_hint().exact(), Some(PORTION as u64 + 1));
        let began = Instant::now();
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(unread.since(), Some(began));

        let second = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(unread.since(), Some(Instant::now()));
        assert!(!body.is_end_stream());
        let last = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(body.is_end_stream());
        assert_eq!([first, second, last].concat(), whole);
        drop(body);
        assert_eq!(unread.since(), None);

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

    #[tokio::test]
    async fn one_that_is_given_up_is_not_counted_any_longer() {
        let unread = Unread::default();
        let mut body = unread.watch(Body::from(vec![0; PORTION * 2]));
        body.frame().await.unwrap().unwrap();
        assert!(unread.since().is_some());
        drop(body);
        assert_eq!(unread.since(), None);
    }

    #[tokio::test]
    async fn one_that_waits_for_more_to_say_does_not_wait_for_its_peer() {
        let unread = Unread::default();
        let said = futures_util::stream::iter([Ok::<_, std::io::Error>(Bytes::from("said"))]);
        let silent = futures_util::StreamExt::chain(said, futures_util::stream::pending());
        let mut body = unread.watch(Body::from_stream(silent));
        body.frame().await.unwrap().unwrap();
        assert!(unread.since().is_some());
        assert!(futures_util::FutureExt::now_or_never(body.frame()).is_none());
        assert_eq!(unread.since(), None);
    }
}
