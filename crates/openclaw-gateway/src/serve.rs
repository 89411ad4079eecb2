//! A gateway from its beginning to its end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use openclaw_link::{Greeting, Service};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::accept;
use crate::chat;
use crate::door::Door;
use crate::follow;
use crate::luggage::Luggage;
use crate::metrics::Traffic;
use crate::routes::Judged;
use crate::setup::GatewaySetup;
use crate::state::{Gateway, MOST_REQUESTS, MOST_STRANGERS, MOST_WEBSOCKETS};

/// How long those who are being served have to end, when all stops. Servers need most of what time there
/// is, so it is short.
pub(crate) const GRACE: Duration = Duration::from_millis(500);

/// Serves until it is to stop, and until those who were being served have had a moment to end.
pub async fn serve(setup: GatewaySetup) {
    let gateway = Arc::new(Gateway {
        engine: Arc::clone(&setup.engine),
        chat: chat::routes().with_state(Arc::clone(&setup.engine)),
        chats: Luggage::of_chats(),
        calls: Luggage::of_calls(),
        answers: Luggage::new(setup.answers_mebibytes),
        requests: Arc::new(Semaphore::new(MOST_REQUESTS)),
        door: Door::new(
            &setup.credential,
            &setup.allowed_hosts,
            setup.public_url.as_ref(),
        ),
        traffic: Traffic::default(),
        websockets: Arc::new(Semaphore::new(MOST_WEBSOCKETS)),
        strangers: Arc::new(Semaphore::new(MOST_STRANGERS)),
        judged: Judged::default(),
        conversations: TaskTracker::new(),
        public_url: setup.public_url,
        version: setup.version,
        since: Instant::now(),
        stop: setup.stop.clone(),
    });
    let address = setup.http.local_addr();
    let stop = setup.stop.clone();
    let service = Arc::new(Service {
        engine: Arc::clone(&setup.engine),
        greeting: Greeting {
            protocol: openclaw_link::PROTOCOL,
            version: setup.version.to_owned(),
            pid: std::process::id(),
            config: setup.config,
            address: address.map_or_else(|_| String::new(), |address| format!("http://{address}")),
        },
        stop: Box::new(move || stop.cancel()),
    });
    let http = accept::http(setup.http, Arc::clone(&gateway));
    let socket = accept::socket(setup.socket, service, setup.stop.clone());
    let following = follow::follow(
        setup.engine,
        setup.configuration_files,
        setup.followed,
        setup.stop,
    );
    tokio::join!(http, socket, following, conversations(&gateway));
}

/// Waits for the conversations over `WebSocket`, which end by themselves when all stops.
async fn conversations(gateway: &Gateway) {
    gateway.stop.cancelled().await;
    gateway.conversations.close();
    if timeout(GRACE, gateway.conversations.wait()).await.is_err() {
        tracing::warn!("WebSockets were still open when the gateway stopped");
    }
}
