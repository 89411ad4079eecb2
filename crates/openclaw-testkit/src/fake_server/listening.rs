//! Who is told of changes: sessions of the first era, and subscriptions of the modern one.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;

use super::call::Call;
use super::message::{self, Outcome, RpcError};
use super::options::Era;
use super::outlet::{Frame, Outlet};
use super::server::Server;

const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";
const SWITCHES: [&str; 3] = [
    "toolsListChanged",
    "promptsListChanged",
    "resourcesListChanged",
];

/// A subscription of the modern era.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub(crate) key: u64,
    /// The id of the request that opened it.
    id: Value,
    filter: Value,
    outlet: Outlet,
    pub(crate) ended: Arc<Notify>,
}

/// Something that changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Tools,
    Resource(&'static str),
}

impl Change {
    fn method(self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Resource(_) => "notifications/resources/updated",
        }
    }

    fn params(self) -> Value {
        match self {
            Self::Tools => json!({}),
            Self::Resource(uri) => json!({"uri": uri}),
        }
    }

    fn is_wanted(self, filter: &Value) -> bool {
        match self {
            Self::Tools => filter["toolsListChanged"] == json!(true),
            Self::Resource(uri) => filter["resourceSubscriptions"]
                .as_array()
                .is_some_and(|uris| uris.contains(&json!(uri))),
        }
    }
}

/// Tells everybody who wants to know.
pub(crate) async fn announce(server: &Server, change: Change) {
    for session in server.sessions() {
        let wanted = match change {
            Change::Tools => session.version().is_some(),
            Change::Resource(uri) => session.is_subscribed(uri),
        };
        if wanted {
            let message = message::notification(change.method(), &change.params());
            session.general.send(Frame::message(&message)).await;
        }
    }
    for listener in server.listeners() {
        if change.is_wanted(&listener.filter) {
            let mut params = change.params();
            params["_meta"] = json!({SUBSCRIPTION_KEY: listener.id});
            let message = message::notification(change.method(), &params);
            if !listener.outlet.send(Frame::message(&message)).await {
                server.remove_listener(listener.key);
            }
        }
    }
}

/// Forgets a subscription when its request ends, in whatever way.
struct Registration {
    server: Arc<Server>,
    key: u64,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.server.remove_listener(self.key);
    }
}

/// Opens a subscription; the reply comes when the server ends it.
pub(crate) async fn listen(call: &Call) -> Outcome {
    let asked = call
        .parameter("notifications")
        .filter(|filter| filter.is_object())
        .ok_or_else(|| RpcError::invalid_params("notifications is not an object"))?;
    let mut filter = json!({});
    for key in SWITCHES {
        if asked[key] == json!(true) {
            filter[key] = json!(true);
        }
    }
    // What it does not tell of it leaves out of what it acknowledges.
    if let Some(uris) = asked["resourceSubscriptions"].as_array()
        && call.server.subscriptions_left.take()
    {
        filter["resourceSubscriptions"] = json!(uris);
    }
    let id = call.request.id.clone();
    let acknowledged = json!({
        "notifications": filter,
        "_meta": {SUBSCRIPTION_KEY: id},
    });
    let method = "notifications/subscriptions/acknowledged";
    call.notify(method, &acknowledged).await;
    let ended = Arc::new(Notify::new());
    let registration = Registration {
        server: Arc::clone(&call.server),
        key: call.server.next_number(),
    };
    call.server.add_listener(Listener {
        key: registration.key,
        id: id.clone(),
        filter,
        outlet: call.outlet.clone(),
        ended: Arc::clone(&ended),
    });
    ended.notified().await;
    Ok(json!({"_meta": {SUBSCRIPTION_KEY: id}}))
}

/// Starts the storms that were asked for.
pub(crate) async fn storm(call: &Call) {
    let faults = &call.server.options.protocol;
    // In the modern era there is no proper way for questions, so an improper one is taken.
    let outlet = match (&call.session.general, call.era) {
        (Outlet::Nowhere, _) | (_, Era::Modern) => &call.outlet,
        (general, Era::First) => general,
    };
    for index in 0..faults.request_storm {
        let number = call.server.next_number();
        let method = format!("storm/unknown_{index}");
        let message = message::request(number, &method, &json!({}));
        outlet.send(Frame::message(&message)).await;
    }
    if let Some(rate) = faults.list_changed_storm {
        let server = Arc::clone(&call.server);
        let pause = Duration::from_secs(1) / rate.max(1);
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(pause);
            loop {
                ticks.tick().await;
                announce(&server, Change::Tools).await;
            }
        });
    }
}
