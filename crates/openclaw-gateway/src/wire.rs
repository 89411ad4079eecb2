//! A connection, as it is read and written: nobody who does not read keeps it, and the end of it does
//! not take away what was said last.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::task::unconstrained;
use tokio::time::{Sleep, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::slowness::Slowness;

/// How long a peer may not read what is written to it, or be behind with that.
pub(crate) const UNREAD: Duration = Duration::from_secs(30);
/// How long, and how much, is still read after our last word. Closing a connection with something unread
/// in it resets it, and then the peer may never see that word.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 16 * 1024 * 1024;
/// Up to how many bytes the parts of an answer are put together before they are written: for those that
/// are small, copying costs less than what the system does for a list of parts.
const TOGETHER: usize = 1024;

/// What a peer may do: how much it may still send before it is known, where that is bounded, and whether it may be slow.
#[derive(Clone)]
pub(crate) struct Allowance(Arc<Allowed>);

struct Allowed {
    bytes: AtomicUsize,
    may_be_slow: AtomicBool,
}

/// No bound.
const UNBOUNDED: usize = usize::MAX;

impl Default for Allowance {
    fn default() -> Self {
        Self(Arc::new(Allowed {
            bytes: AtomicUsize::new(UNBOUNDED),
            may_be_slow: AtomicBool::new(false),
        }))
    }
}

impl Allowance {
    /// Only so many bytes from now on.
    pub(crate) fn bound(&self, bytes: usize) {
        self.0.bytes.store(bytes, Ordering::Relaxed);
    }

    /// As many as there are, again.
    pub(crate) fn lift(&self) {
        self.0.bytes.store(UNBOUNDED, Ordering::Relaxed);
    }

    /// It may read as slowly as it likes, as long as it reads: whoever writes to it has bounds of its own.
    pub(crate) fn be_slow(&self) {
        self.0.may_be_slow.store(true, Ordering::Relaxed);
    }

    /// Counts what was read; whether that was still within the bound.
    fn spend(&self, bytes: usize) -> bool {
        let left = |left: usize| match left {
            UNBOUNDED => Some(UNBOUNDED),
            left => left.checked_sub(bytes),
        };
        let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
        self.0.bytes.fetch_update(set, get, left).is_ok()
    }
}

/// A connection.
pub(crate) struct Wire<S> {
    stream: S,
    /// What was read to find out how it begins.
    ahead: Bytes,
    allowance: Allowance,
    /// Whether the peer does not read right now.
    is_blocked: Arc<AtomicBool>,
    /// Runs while the peer does not read.
    unread: Option<Pin<Box<Sleep>>>,
    slowness: Slowness,
    /// Runs after our last word.
    linger: Option<Pin<Box<Sleep>>>,
    lingered: usize,
    /// No time is left for lingering when this is cancelled.
    stop: CancellationToken,
}

impl<S> Wire<S> {
    pub(crate) fn new(stream: S, stop: CancellationToken) -> Self {
        Self {
            stream,
            ahead: Bytes::new(),
            allowance: Allowance::default(),
            is_blocked: Arc::default(),
            unread: None,
            slowness: Slowness::default(),
            linger: None,
            lingered: 0,
            stop,
        }
    }

    /// The same, for a peer that may only send so much.
    pub(crate) fn within(mut self, allowance: Allowance) -> Self {
        self.allowance = allowance;
        self
    }

    /// Whether something waits for the peer to read, now and later.
    pub(crate) fn is_blocked(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_blocked)
    }

    /// Turns waiting for a peer that does not read, or next to nothing, into an error when it has lasted.
    fn watched(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        self.is_blocked
            .store(outcome.is_pending(), Ordering::Relaxed);
        if let Poll::Ready(written) = &outcome {
            self.unread = None;
            self.slowness.moved(*written.as_ref().unwrap_or(&0));
            if self.allowance.0.may_be_slow.load(Ordering::Relaxed) {
                self.slowness = Slowness::default();
            }
            return outcome;
        }
        let slowness = &mut self.slowness;
        let unread = self
            .unread
            .get_or_insert_with(|| Box::pin(sleep_until(slowness.waits(UNREAD))));
        // Whoever has much to say must not be able to use up what this needs to look at the time.
        ready!(pin!(unconstrained(unread.as_mut())).poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> Wire<S> {
    /// Whether this is how it begins. What is read to find out is still there for those who read next.
    pub(crate) async fn begins_with(&mut self, beginning: &[u8]) -> io::Result<bool> {
        let mut ahead = BytesMut::with_capacity(beginning.len());
        let begins = loop {
            match beginning.strip_prefix(&*ahead) {
                None => break false,
                Some([]) => break true,
                Some(rest) => {
                    let mut limited = (&mut self.stream).take(rest.len() as u64);
                    if limited.read_buf(&mut ahead).await? == 0 {
                        break false;
                    }
                }
            }
        };
        self.ahead = ahead.freeze();
        Ok(begins)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Wire<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.ahead.is_empty() {
            let length = self.ahead.len().min(buffer.remaining());
            buffer.put_slice(&self.ahead.split_to(length));
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let read = buffer.filled().len().saturating_sub(before);
        if self.allowance.spend(read) {
            return Poll::Ready(Ok(()));
        }
        Poll::Ready(Err(io::ErrorKind::InvalidData.into()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watched(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut together = [0; TOGETHER];
        let outcome = match joined(slices, &mut together) {
            Some(whole) => Pin::new(&mut self.stream).poll_write(context, whole),
            None => Pin::new(&mut self.stream).poll_write_vectored(context, slices),
        };
        self.watched(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.linger.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            self.linger = Some(Box::pin(sleep(LINGER)));
        }
        let mut scratch = [0; 16 * 1024];
        loop {
            if self.stop.is_cancelled() || self.lingered >= LINGER_BYTES {
                return Poll::Ready(Ok(()));
            }
            let mut buffer = ReadBuf::new(&mut scratch);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.lingered += buffer.filled().len();
                }
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => break,
            }
        }
        match &mut self.linger {
            Some(linger) => linger.as_mut().poll(context).map(Ok),
            None => Poll::Ready(Ok(())),
        }
    }
}

/// The parts one behind the other, where there is room for them.
fn joined<'a>(slices: &[io::IoSlice<'_>], room: &'a mut [u8]) -> Option<&'a [u8]> {
    let mut length = 0;
    for slice in slices {
        let end = length + slice.len();
        room.get_mut(length..end)?.copy_from_slice(slice);
        length = end;
    }
    room.get(..length)
}

#[cfg(test)]
mod tests {
    use bytes::Buf;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_does_not_read_is_given_up() {
        let (ours, _theirs) = duplex(10);
        let mut wire = Wire::new(ours, CancellationToken::new());
        let began = Instant::now();
        let error = wire.write_all(&[0; 100]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), UNREAD.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_peer_that_may_be_slow_is_waited_for_however_little_it_reads() {
        for may_be_slow in [false, true] {
            let (ours, mut theirs) = duplex(10);
            let allowance = Allowance::default();
            if may_be_slow {
                allowance.be_slow();
            }
            let mut wire = Wire::new(ours, CancellationToken::new()).within(allowance);
            tokio::spawn(async move {
                loop {
                    sleep(UNREAD / 2).await;
                    if theirs.read_exact(&mut [0; 10]).await.is_err() {
                        break;
                    }
                }
            });
            let written = wire.write_all(&[0; 100]).await;
            assert_eq!(written.is_ok(), may_be_slow);
        }
    }

    #[tokio::test]
    async fn parts_arrive_in_their_order_whether_they_are_put_together_or_not() {
        for large in [TOGETHER / 2, TOGETHER - 1, TOGETHER, TOGETHER * 4] {
            let (ours, mut theirs) = duplex(TOGETHER * 5);
            let mut wire = Wire::new(ours, CancellationToken::new());
            let (head, body) = (vec![b'h'; 1], vec![b'b'; large]);
            let mut parts = Buf::chain(head.as_slice(), body.as_slice());
            wire.write_all_buf(&mut parts).await.unwrap();
            let mut read = vec![0; 1 + large];
            theirs.read_exact(&mut read).await.unwrap();
            assert_eq!(read, [head, body].concat(), "{large}");
        }
    }

    #[tokio::test]
    async fn a_peer_that_sends_more_than_it_may_is_no_longer_read() {
        let (ours, mut theirs) = duplex(100);
        let allowance = Allowance::default();
        let mut wire = Wire::new(ours, CancellationToken::new()).within(allowance.clone());
        allowance.bound(15);
        theirs.write_all(&[0; 40]).await.unwrap();
        wire.read_exact(&mut [0; 15]).await.unwrap();
        let error = wire.read_exact(&mut [0; 10]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        allowance.lift();
        wire.read_exact(&mut [0; 15]).await.unwrap();
    }

    #[tokio::test]
    async fn how_it_begins_is_found_out_and_read_again() {
        for (text, begins) in [
            ("begin and go on", true),
            ("begin", true),
            ("beg", false),
            ("bug", false),
            ("other", false),
            ("", false),
        ] {
            for piece in 1..=8 {
                let (ours, mut theirs) = duplex(piece);
                let mut wire = Wire::new(ours, CancellationToken::new());
                let saying = async move { theirs.write_all(text.as_bytes()).await };
                let reading = async {
                    assert_eq!(wire.begins_with(b"begin").await.unwrap(), begins, "{text}");
                    let mut read = String::new();
                    wire.read_to_string(&mut read).await.unwrap();
                    assert_eq!(read, text);
                };
                let (said, ()) = tokio::join!(saying, reading);
                said.unwrap();
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_reads_slowly_is_waited_for_unless_it_is_next_to_nothing() {
        for (at_a_time, is_enough) in [(2 << 20, true), (2 << 10, false)] {
            let (ours, mut theirs) = duplex(at_a_time);
            let mut wire = Wire::new(ours, CancellationToken::new());
            let reading = async {
                let mut read = vec![0; at_a_time];
                for _ in 0..10 {
                    sleep(Duration::from_secs(20)).await;
                    theirs.read_exact(&mut read).await.unwrap();
                }
            };
            let bytes = vec![0; at_a_time * 10];
            let written = tokio::select! {
                // All that is read is written before.
                biased;
                written = wire.write_all(&bytes) => written,
                () = reading => Ok(()),
            };
            assert_eq!(written.is_ok(), is_enough, "{at_a_time}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_waits_for_a_peer_that_still_speaks_but_not_for_long() {
        let (ours, mut theirs) = duplex(1 << 20);
        let mut wire = Wire::new(ours, CancellationToken::new());
        let began = Instant::now();
        let bytes = vec![0; 1 << 20];
        let speaking = async { while theirs.write_all(&bytes).await.is_ok() {} };
        tokio::select! {
            ended = wire.shutdown() => ended.unwrap(),
            () = speaking => {}
        }
        assert!(began.elapsed() <= LINGER);

        let (ours, _theirs) = duplex(10);
        let mut wire = Wire::new(ours, CancellationToken::new());
        let began = Instant::now();
        wire.shutdown().await.unwrap();
        assert_eq!(began.elapsed(), LINGER);
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_no_time_for_that_when_all_stops() {
        let (ours, _theirs) = duplex(10);
        let stop = CancellationToken::new();
        stop.cancel();
        let began = Instant::now();
        Wire::new(ours, stop).shutdown().await.unwrap();
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
