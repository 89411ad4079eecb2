//! A connection over HTTP/2: many requests at a time.
//!
//! They are answered by the task of their connection. So they end with it, and answers that are ready
//! together are written together: with many calls in flight, writing costs more than calling.

use std::convert::Infallible;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use http::{HeaderValue, Method, Request, StatusCode, header};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::rt::Executor;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::connection::{HEAD, HEAD_BYTES};
use super::unread::Unread;
use crate::entrance;
use crate::peer::Peer;
use crate::state::Gateway;
use crate::wire::{UNREAD, Wire};

/// How many requests may be under way over one connection; others wait for them.
const MOST_REQUESTS: u32 = 128;
/// How many of them may be taken back before we have seen them: all that may be under way.
const MOST_RESETS: usize = MOST_REQUESTS as usize;
/// How many are held at most, those included that were taken back and are still to be let go of.
const MOST_HELD: usize = 4 * MOST_RESETS;
/// How much of one request may come before it is read, and of all together.
const WINDOW: u32 = 256 * 1024;
const WINDOWS: u32 = 1024 * 1024;
/// How much of an answer waits to be written.
const SENDING: usize = 64 * 1024;
/// How many requests are answered before others have their turn.
const AT_ONCE: usize = 32;
/// How often it is looked whether there is still somebody.
const LOOK: Duration = Duration::from_secs(1);

/// Answers what comes, until either side has enough.
pub(super) async fn serve(wire: Wire<TcpStream>, from: IpAddr, gateway: Arc<Gateway>) {
    let (unread, is_blocked) = (Unread::default(), wire.is_blocked());
    let streams = Streams::of(unread.clone());
    let (shared, watching) = (Arc::clone(&gateway), unread.clone());
    let peer = Arc::new(Peer::several(from, &gateway));
    let answer = service_fn(move |request: Request<Incoming>| {
        let (gateway, peer) = (Arc::clone(&shared), Arc::clone(&peer));
        let unread = watching.clone();
        async move {
            let is_about_head = request.method() == Method::HEAD;
            let mut response = entrance::pass(gateway, request.map(Whole), peer).await;
            if is_about_head {
                take_body(&mut response);
            }
            Ok::<_, Infallible>(response.map(|body| unread.watch(body)))
        }
    });
    let connection = http2::Builder::new(streams.clone())
        .max_concurrent_streams(MOST_REQUESTS)
        // Whoever takes back all that was asked at once is no attacker: his other requests go on.
        .max_pending_accept_reset_streams(MOST_RESETS)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOWS)
        .max_header_list_size(HEAD_BYTES.into())
        .max_send_buf_size(SENDING)
        .serve_connection(TokioIo::new(wire), answer);
    let mut connection = pin!(connection);
    let mut answering = UnderWay::new(streams);
    let mut leaving = None;
    let mut looks = interval_at(Instant::now() + LOOK, LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            // A peer that always has something to be read must not keep anybody from looking.
            biased;
            now = looks.tick() => {
                unread.give_up(now);
                let is_writing = is_blocked.load(Ordering::Relaxed);
                let idle = answering.idle(now).filter(|_| !is_writing);
                match leaving {
                    // What was answered last may still be on its way.
                    Some(since) if idle.is_some_and(|idle| idle >= UNREAD) && now - since >= UNREAD => return,
                    None if idle.is_some_and(|idle| idle >= HEAD) => {
                        connection.as_mut().graceful_shutdown();
                        leaving = Some(now);
                    }
                    _ => {}
                }
            }
            ended = std::future::poll_fn(|context| answering.poll(context, connection.as_mut())) => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection over HTTP/2 ended early");
                }
                return;
            }
            () = gateway.stop.cancelled(), if leaving.is_none() => {
                // What is under way is answered; whoever owns this task leaves it a moment for that.
                connection.as_mut().graceful_shutdown();
                leaving = Some(Instant::now());
            }
        }
    }
}

/// What comes with a request: all of it, or an error. One that was taken back ends as if there were no more.
struct Whole(Incoming);

impl HttpBody for Whole {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = ready!(Pin::new(&mut self.0).poll_frame(context));
        Poll::Ready(match frame {
            None if !self.0.is_end_stream() => Some(Err("it was taken back".into())),
            frame => frame.map(|frame| frame.map_err(Into::into)),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

/// Leaves the head of an answer, which says how large the rest is. Over HTTP/1 that is done for us.
fn take_body(response: &mut Response) {
    let body = std::mem::replace(response.body_mut(), Body::empty());
    // RFC 9110 §8.6: one that has no body in any case says nothing of its size.
    let never_has_one = matches!(
        response.status(),
        StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED
    );
    if let Some(length) = body.size_hint().exact().filter(|_| !never_has_one) {
        let headers = response.headers_mut();
        headers
            .entry(header::CONTENT_LENGTH)
            .or_insert(HeaderValue::from(length));
    }
}

/// A request that is being answered.
type Stream = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Requests that have come and are not taken up yet.
#[derive(Clone)]
struct Streams {
    held: Arc<Mutex<Streaming>>,
    unread: Unread,
}

#[derive(Default)]
struct Streaming {
    new: Vec<Stream>,
    /// How many were taken up, and are under way or still to be let go of.
    under_way: usize,
    /// Whether there were more than may be held.
    is_overrun: bool,
}

impl Streams {
    fn of(unread: Unread) -> Self {
        Self {
            held: Arc::default(),
            unread,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Streaming> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Vec<Stream> {
        std::mem::take(&mut self.lock().new)
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Streams {
    fn execute(&self, stream: F) {
        let mut held = self.lock();
        if held.new.len() + held.under_way >= MOST_HELD {
            held.is_overrun = true;
            return;
        }
        // A mistake in one answer must not take the others of its connection along.
        let stream = AssertUnwindSafe(self.unread.answering(stream)).catch_unwind();
        let stream = stream.map(|answered| {
            if answered.is_err() {
                tracing::error!("an answer over HTTP/2 made the gateway panic");
            }
        });
        held.new.push(Box::pin(stream));
    }
}

/// The requests of a connection that are under way.
struct UnderWay {
    streams: Streams,
    requests: FuturesUnordered<Stream>,
    /// When there was one last.
    busy: Instant,
}

impl UnderWay {
    fn new(streams: Streams) -> Self {
        Self {
            streams,
            requests: FuturesUnordered::new(),
            busy: Instant::now(),
        }
    }

    /// Goes on with all of them, and with the connection, until it ends.
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        mut connection: Pin<&mut impl Future<Output = hyper::Result<()>>>,
    ) -> Poll<hyper::Result<()>> {
        loop {
            self.go_on(context);
            // Behind them, so that it finds all answers that are ready.
            if let Poll::Ready(ended) = connection.as_mut().poll(context) {
                return Poll::Ready(ended);
            }
            if self.streams.lock().is_overrun {
                // The protocol counts requests that were taken back no longer, and we still have them.
                tracing::debug!("a peer takes back requests faster than they can be let go of");
                return Poll::Ready(Ok(()));
            }
            let new = self.streams.take();
            if new.is_empty() {
                return Poll::Pending;
            }
            self.busy = Instant::now();
            self.requests.extend(new);
        }
    }

    /// Goes on with all of them that can, up to a number of answers. What was taken back is no answer, and is let
    /// go of at once.
    fn go_on(&mut self, context: &mut Context<'_>) {
        let mut answered = 0;
        while let Poll::Ready(Some(())) = self.requests.poll_next_unpin(context) {
            answered += 1;
            if answered >= AT_ONCE && self.requests.len() <= MOST_RESETS {
                context.waker().wake_by_ref();
                break;
            }
        }
        self.streams.lock().under_way = self.requests.len();
    }

    /// For how long there has been none; nothing while there is one.
    fn idle(&mut self, now: Instant) -> Option<Duration> {
        if self.requests.is_empty() {
            return Some(now - self.busy);
        }
        self.busy = now;
        None
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // Each of them holds the list that it is in.
        drop(self.streams.take());
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn, ready};

    use super::*;

    /// A connection that brings so many requests whenever it is gone on with, so many times.
    fn bringing<F: Future<Output = ()> + Send + 'static>(
        streams: &Streams,
        count: usize,
        times: usize,
        request: impl Fn() -> F,
    ) -> impl Future<Output = hyper::Result<()>> {
        let mut left = times;
        poll_fn(move |_| {
            if left > 0 {
                left -= 1;
                (0..count).for_each(|_| streams.execute(request()));
            }
            Poll::Pending
        })
    }

    /// Goes on until there is nothing to do, or to the end.
    fn go_on(
        answering: &mut UnderWay,
        connection: impl Future<Output = hyper::Result<()>>,
    ) -> bool {
        let mut connection = pin!(connection);
        let step = poll_fn(|context| answering.poll(context, connection.as_mut()));
        step.now_or_never().is_some()
    }

    #[tokio::test]
    async fn whoever_has_more_requests_held_than_may_be_is_cut_off() {
        let streams = Streams::of(Unread::default());
        let mut answering = UnderWay::new(streams.clone());
        let held = Arc::new(());
        let hanging = || {
            let held = Arc::clone(&held);
            async move {
                pending::<()>().await;
                drop(held);
            }
        };
        let within = bringing(&streams, MOST_HELD / 4, 4, hanging);
        assert!(!go_on(&mut answering, within));
        assert_eq!(Arc::strong_count(&held) - 1, MOST_HELD);
        let beyond = bringing(&streams, 1, 1, hanging);
        assert!(go_on(&mut answering, beyond));
        assert_eq!(Arc::strong_count(&held) - 1, MOST_HELD);
        drop(answering);
        assert_eq!(Arc::strong_count(&held), 1, "nothing is kept");
    }

    #[tokio::test]
    async fn what_is_over_is_let_go_of_as_fast_as_it_comes() {
        let streams = Streams::of(Unread::default());
        let mut answering = UnderWay::new(streams.clone());
        // As many as may be under way, each time.
        let coming = bringing(&streams, MOST_RESETS, 1_000, || ready(()));
        assert!(!go_on(&mut answering, coming), "it was cut off");
        assert!(answering.requests.len() <= MOST_RESETS);
    }
}
