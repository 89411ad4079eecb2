//! Which message does what.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::call::Call;
use super::message::{self, Outcome, RpcError};
use super::options::Era;
use super::outlet::{Frame, Outlet};
use super::server::Server;
use super::session::Session;
use super::{catalog, handshake, listening, process, prompts, resources, spoil, tools};

/// Answers a request, rightly or wrongly, or not at all.
pub(crate) async fn answer(call: &Call) {
    let method = call.request.method.as_str();
    let outcome = tokio::select! {
        outcome = perform(call) => call.complete(outcome),
        () = call.cancelled.notified() => {
            call.server.journal.record(
                "cancelled",
                json!({"id": call.request.id, "method": method}),
            );
            return;
        }
    };
    call.session.end(&call.request.id);
    for frame in spoil::frames(call, &outcome) {
        call.outlet.send(frame).await;
    }
    if call.headers.is_some() && is_last_reply(&call.server, method) {
        // The reply is on its way through the task of its connection.
        tokio::time::sleep(Duration::from_millis(100)).await;
        process::complain("fake-mcp-server: exits because it was called");
        process::leave(&call.server, 1);
    }
    if method == "tools/list" && call.server.is_first_list() {
        listening::storm(call).await;
    }
}

/// Whether the program exits once it has answered this.
pub(crate) fn is_last_reply(server: &Server, method: &str) -> bool {
    server.options.process.exit_after_initialize
        && matches!(method, "initialize" | "server/discover")
}

/// Whether a request is left without an answer.
pub(crate) fn is_mute(call: &Call) -> bool {
    let faults = &call.server.options.protocol;
    faults.mute
        || match call.request.method.as_str() {
            "server/discover" => faults.mute_discover,
            "tools/call" => faults.mute_calls,
            _ => false,
        }
}

async fn perform(call: &Call) -> Outcome {
    if is_mute(call) {
        std::future::pending::<()>().await;
    }
    let method = call.request.method.as_str();
    let options = &call.server.options;
    let delay = Duration::from_millis(options.protocol.initialize_delay);
    if matches!(method, "initialize" | "server/discover") && !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    if method == "tools/call" && options.process.exit_on_call {
        process::complain("fake-mcp-server: exits because it was called");
        process::leave(&call.server, 1);
    }
    if options.protocol.empty_result {
        return Ok(json!({}));
    }
    match call.era {
        Era::First => handshake::check_first(call)?,
        Era::Modern => handshake::check_modern(&call.server, &call.request)?,
    }
    match (call.era, method) {
        (Era::First, "initialize") => handshake::initialize(call),
        (Era::First, "ping") => Ok(json!({})),
        (Era::First, "logging/setLevel") => tools::set_log_level(call),
        (Era::First, "resources/subscribe") => resources::subscribe(call),
        (Era::First, "resources/unsubscribe") => resources::unsubscribe(call),
        (Era::Modern, "server/discover") => Ok(handshake::discover(call)),
        (Era::Modern, "subscriptions/listen") if !call.server.options.protocol.refuse_listen => {
            listening::listen(call).await
        }
        (_, "tools/list") => catalog::page(call, "tools", tools::list(&call.server)),
        (_, "tools/call") => tools::call(call).await,
        (_, "resources/list") => {
            let list = resources::list(&call.server.options.resources);
            catalog::page(call, "resources", list)
        }
        (_, "resources/templates/list") => {
            catalog::page(call, "resourceTemplates", resources::templates())
        }
        (_, "resources/read") => resources::read(call).await,
        (_, "prompts/list") => catalog::page(call, "prompts", prompts::list()),
        (_, "prompts/get") => prompts::get(call),
        (_, "completion/complete") => prompts::complete(call),
        (_, unknown) => Err(RpcError::method_not_found(unknown)),
    }
}

/// Acts on a notification of the client.
pub(crate) fn notified(server: &Server, session: &Arc<Session>, method: &str, params: &Value) {
    match method {
        "notifications/initialized" => session.set_ready(),
        "notifications/cancelled" => {
            let id = params.get("requestId").unwrap_or(&Value::Null);
            if !session.cancel(id) {
                let details = json!({"id": id});
                server.journal.record("cancelled too late", details);
            }
        }
        _ => {}
    }
}

/// Passes on an answer of the client to whoever asked.
pub(crate) fn responded(
    server: &Server,
    session: &Arc<Session>,
    id: &Value,
    outcome: Result<Value, Value>,
) {
    if !session.respond(id, outcome) {
        let details = json!({"id": id});
        server.journal.record("response to nobody", details);
    }
}

/// Answers something that is no message at all.
pub(crate) async fn complain(server: &Server, outlet: &Outlet, id: &Value, error: RpcError) {
    if !server.options.protocol.mute {
        let reply = message::reply(id, &Err(error));
        outlet.send(Frame::message(&reply)).await;
    }
}
