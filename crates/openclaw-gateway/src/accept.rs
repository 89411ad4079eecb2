//! Who calls: connections are taken up, bounded in number, and owned until they end.

mod connection;
mod crowd;
mod http1;
mod http2;
mod outage;
mod spare;
mod unread;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use openclaw_link::{Listener, ListeningAt, Service};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::serve::GRACE;
use crate::state::Gateway;
use connection::{REFUSAL, SHORT_REFUSAL};
use crowd::Crowd;
use outage::Outage;
use spare::Spare;

/// How many connections over HTTP there may be at a time.
const MOST_CONNECTIONS: usize = 1_024;
/// How many of those beyond are told so at a time; the others are closed without a word.
const MOST_REFUSALS: usize = 64;
/// How many commands may be connected at a time.
const MOST_CALLERS: usize = 1_024;
/// How long nobody is taken up after the system could not.
const PAUSE: Duration = Duration::from_millis(100);
/// How often it is looked whether the socket can be found.
const LOOK: Duration = Duration::from_secs(1);

/// Takes up whoever calls over HTTP, until all stops.
pub(crate) async fn http(listener: TcpListener, gateway: Arc<Gateway>) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let crowd = Crowd::default();
    let refusals = Arc::new(Semaphore::new(MOST_REFUSALS));
    let mut tasks = JoinSet::new();
    let mut trouble = Trouble::new("HTTP");
    loop {
        let accepted = tokio::select! {
            biased;
            () = gateway.stop.cancelled() => break,
            Some(_) = tasks.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let (stream, from) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                let refused = async {
                    if let Some(Ok((stream, _))) = listener.accept().now_or_never() {
                        connection::refuse(stream, SHORT_REFUSAL, gateway.stop.clone()).await;
                    }
                };
                trouble.failed(&error, refused, &gateway.stop).await;
                continue;
            }
        };
        trouble.succeeded();
        // Answers are written whole; waiting for more to send only makes them late.
        let _ = stream.set_nodelay(true);
        let counted = crowd.enter(from.ip());
        if let Some(counted) = counted
            && let Ok(permit) = Arc::clone(&room).try_acquire_owned()
        {
            let served = connection::serve(stream, from.ip(), Arc::clone(&gateway));
            tasks.spawn(async move {
                let _room = (counted, permit);
                served.await;
            });
        } else if let Ok(permit) = Arc::clone(&refusals).try_acquire_owned() {
            let stop = gateway.stop.clone();
            tasks.spawn(async move {
                let _room = permit;
                connection::refuse(stream, REFUSAL, stop).await;
            });
        }
    }
    drop(listener);
    end(tasks).await;
}

/// Takes up commands, until all stops.
pub(crate) async fn socket(mut listener: Listener, service: Arc<Service>, stop: CancellationToken) {
    let room = Arc::new(Semaphore::new(MOST_CALLERS));
    let mut tasks = JoinSet::new();
    let mut trouble = Trouble::new("the socket");
    let mut again = Box::pin(again(listener.place()));
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            Some(_) = tasks.join_next() => continue,
            found = &mut again => {
                listener = found;
                again.set(self::again(listener.place()));
                continue;
            }
            accepted = listener.accept() => accepted,
        };
        let caller = match accepted {
            Ok(caller) => caller,
            Err(error) => {
                // Whoever is dropped sees the connection closed, and says that the gateway can't be reached.
                let refused = async { drop(listener.accept().now_or_never()) };
                trouble.failed(&error, refused, &stop).await;
                continue;
            }
        };
        trouble.succeeded();
        // One that finds no room is dropped, and sees the connection closed.
        if let Ok(permit) = Arc::clone(&room).try_acquire_owned() {
            let service = Arc::clone(&service);
            tasks.spawn(async move {
                let _room = permit;
                caller.serve(service).await;
            });
        }
    }
    drop(listener);
    end(tasks).await;
}

/// What is done where nobody can be taken up.
struct Trouble {
    outage: Outage,
    spare: Spare,
}

impl Trouble {
    fn new(place: &'static str) -> Self {
        Self {
            outage: Outage::new(place),
            spare: Spare::new(),
        }
    }

    /// Somebody could not be taken up: where a descriptor is missing, the next one is told with the spare one.
    async fn failed(
        &mut self,
        error: &io::Error,
        refused: impl Future<Output = ()>,
        stop: &CancellationToken,
    ) {
        if is_of_the_peer(error) {
            return;
        }
        self.outage.failed(error);
        if !self.spare.lend(error, refused).await {
            wait(stop).await;
        }
    }

    fn succeeded(&mut self) {
        self.outage.succeeded();
        self.spare.refill();
    }
}

/// Waits until callers don't find the socket any longer, as when somebody has tidied up, and listens once more where
/// they find it. If that can't be, it is told once and tried again at the next look.
async fn again(place: ListeningAt) -> Listener {
    let mut is_told = false;
    loop {
        sleep(LOOK).await;
        let looked = place.clone();
        // A disk may take its time.
        let looking = spawn_blocking(move || looked.is_gone().then(|| looked.listen()));
        match looking.await {
            Ok(None) => {}
            Ok(Some(Ok(listener))) => {
                tracing::warn!("the socket of the gateway was deleted, and is there again");
                return listener;
            }
            Ok(Some(Err(error))) => {
                if !std::mem::replace(&mut is_told, true) {
                    tracing::error!(
                        %error,
                        "the socket of the gateway was deleted, and can't be made again: commands don't find it"
                    );
                }
            }
            Err(error) => tracing::error!(%error, "looking for the socket failed"),
        }
    }
}

/// Leaves those who are being served a moment, and drops them then.
async fn end(mut tasks: JoinSet<()>) {
    let all = async { while tasks.join_next().await.is_some() {} };
    if timeout(GRACE, all).await.is_err() {
        tasks.shutdown().await;
    }
}

/// Waits a moment: trying at once again would take a whole core.
async fn wait(stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = sleep(PAUSE) => {}
    }
}

/// Whether it is the one connection that went wrong, not the listening.
fn is_of_the_peer(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}
