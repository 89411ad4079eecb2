//! The connections of one socket: few at once, none for long, and none in the way of the next.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout_at};

use super::Limits;
use super::answering::Door;

/// How large the head of a request may be. Browsers send the cookies of all programs of this machine
/// along, whatever their port.
const LARGEST_HEAD: usize = 64 * 1024;
/// How long is waited when the machine has no more connections to give.
const EXHAUSTED: Duration = Duration::from_millis(100);

/// The connections of one socket.
pub(super) struct Connections {
    door: Arc<Door>,
    limits: Limits,
    running: JoinSet<()>,
    /// In the order in which they came.
    known: VecDeque<Known>,
}

/// A connection that may have to give way.
struct Known {
    since: Instant,
    handle: AbortHandle,
    has_asked: Arc<AtomicBool>,
}

impl Known {
    fn has_asked(&self) -> bool {
        self.has_asked.load(Ordering::Relaxed)
    }

    fn is_in_the_way(&self) -> bool {
        !self.has_asked() && !self.handle.is_finished()
    }
}

impl Connections {
    pub(super) fn new(door: Arc<Door>, limits: Limits) -> Self {
        Self {
            door,
            limits,
            running: JoinSet::new(),
            known: VecDeque::new(),
        }
    }

    /// Serves all connections until it is told to stop; then those that have asked for something are
    /// still answered.
    pub(super) async fn serve(mut self, socket: TcpListener, mut stopped: watch::Receiver<bool>) {
        let is_stopped = async move {
            // An owner that is gone does not want it any more, either.
            let _ = stopped.wait_for(|stopped| *stopped).await;
        };
        tokio::select! {
            () = is_stopped => {}
            () = self.accept(&socket) => {}
        }
        drop(socket);
        for silent in self.known.iter().filter(|known| !known.has_asked()) {
            silent.handle.abort();
        }
        while self.running.join_next().await.is_some() {}
    }

    async fn accept(&mut self, socket: &TcpListener) {
        loop {
            self.make_room().await;
            match socket.accept().await {
                Ok((stream, _)) => self.take(stream),
                // That one connection has failed, or there are too many on this machine.
                Err(error) => {
                    tracing::debug!(%error, "a connection to the callback could not be taken");
                    sleep(EXHAUSTED).await;
                }
            }
        }
    }

    /// Waits until there is room for one more. The oldest connection that has not asked for anything
    /// gives way once it had its time: whoever holds connections open must not keep the browser out.
    async fn make_room(&mut self) {
        while self.running.try_join_next().is_some() {}
        while self.running.len() >= self.limits.connections {
            match self.known.iter().find(|known| known.is_in_the_way()) {
                Some(silent) => {
                    let until = silent.since + self.limits.grace;
                    if timeout_at(until, self.running.join_next()).await.is_err() {
                        silent.handle.abort();
                    }
                }
                // All of them are being answered, which has an end.
                None => drop(self.running.join_next().await),
            }
        }
        self.known.retain(|known| !known.handle.is_finished());
    }

    fn take(&mut self, stream: TcpStream) {
        let has_asked = Arc::new(AtomicBool::new(false));
        let connection = answer(
            stream,
            Arc::clone(&self.door),
            Arc::clone(&has_asked),
            self.limits,
        );
        let handle = self.running.spawn(connection);
        self.known.push_back(Known {
            since: Instant::now(),
            handle,
            has_asked,
        });
    }
}

/// Answers the one request of a connection.
async fn answer(stream: TcpStream, door: Arc<Door>, has_asked: Arc<AtomicBool>, limits: Limits) {
    let service = service_fn(move |request| {
        has_asked.store(true, Ordering::Relaxed);
        let door = Arc::clone(&door);
        async move { Ok::<_, Infallible>(door.answer(&request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.request)
        .max_buf_size(LARGEST_HEAD)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    // It may be as slow to take its answer as it was to ask, and no slower. Who talks nonsense or
    // goes away in the middle is no trouble of ours.
    let deadline = Instant::now() + limits.request * 2 + limits.reply;
    let _ = timeout_at(deadline, connection).await;
}
