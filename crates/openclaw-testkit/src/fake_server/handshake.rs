//! How a client introduces itself: once in the first era, with every request in the modern one.

use serde_json::{Value, json};

use super::call::Call;
use super::message::{INVALID_REQUEST, Outcome, Request, RpcError, UNSUPPORTED_VERSION};
use super::options::{Era, EraChoice, MODERN_ERA, Options};
use super::server::Server;

pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";

/// The era that a request belongs to, by what it says.
pub(crate) fn era_of(options: &Options, method: &str, params: &Value) -> Era {
    let modern = match options.era {
        EraChoice::Legacy => false,
        EraChoice::Modern => true,
        EraChoice::Both => {
            matches!(method, "server/discover" | "subscriptions/listen")
                || params
                    .get("_meta")
                    .is_some_and(|meta| meta.get(VERSION_KEY).is_some())
        }
    };
    if modern { Era::Modern } else { Era::First }
}

/// Whether this revision has the handshake.
pub(crate) fn is_modern(version: &str) -> bool {
    MODERN_ERA.contains(&version)
}

/// Agrees on a revision with a client of the first era.
pub(crate) fn initialize(call: &Call) -> Outcome {
    let requested = call.text_parameter("protocolVersion")?;
    let capabilities = call.parameter("capabilities").cloned();
    let capabilities = capabilities
        .filter(Value::is_object)
        .ok_or_else(|| RpcError::invalid_params("capabilities is not an object"))?;
    check_implementation(call.parameter("clientInfo"))?;
    let known = call.server.options.revisions(Era::First);
    let version = known
        .iter()
        .find(|version| **version == requested)
        .or(known.last())
        .ok_or_else(|| unsupported(&call.server, requested))?;
    call.session.agree(version, capabilities);
    let answer = if call.server.options.protocol.wrong_version {
        "1999-01-01"
    } else {
        version
    };
    let mut result = json!({
        "protocolVersion": answer,
        "capabilities": capabilities_of_server(&call.server, Era::First),
        "serverInfo": Server::implementation(),
    });
    if let Some(instructions) = &call.server.options.instructions {
        result["instructions"] = json!(instructions);
    }
    Ok(result)
}

/// Tells a modern client what there is.
pub(crate) fn discover(call: &Call) -> Value {
    let options = &call.server.options;
    let mut result = json!({
        "supportedVersions": supported(&call.server),
        "capabilities": capabilities_of_server(&call.server, Era::Modern),
    });
    if let Some(instructions) = &options.instructions {
        result["instructions"] = json!(instructions);
    }
    result
}

fn capabilities_of_server(server: &Server, era: Era) -> Value {
    let subscribe = !server.options.resources.no_subscriptions;
    let mut capabilities = json!({
        "tools": {"listChanged": true},
        "resources": {"subscribe": subscribe, "listChanged": true},
        "prompts": {"listChanged": true},
        "completions": {},
    });
    if era == Era::First {
        capabilities["logging"] = json!({});
    }
    capabilities
}

/// Requests of the first era come after the handshake.
pub(crate) fn check_first(call: &Call) -> Result<(), RpcError> {
    match call.request.method.as_str() {
        "initialize" if call.session.version().is_some() => Err(RpcError::new(
            INVALID_REQUEST,
            "the session is initialized already",
        )),
        "initialize" | "ping" => Ok(()),
        // It is how clients find out which era a server belongs to.
        "server/discover" => Err(RpcError::method_not_found("server/discover")),
        _ if call.server.options.stateless && call.headers.is_some() => Ok(()),
        _ if call.session.version().is_none() => Err(RpcError::new(
            INVALID_REQUEST,
            "the session is not initialized",
        )),
        // On HTTP the notification may arrive later than a request that was sent after it.
        _ if !call.session.is_ready() && call.headers.is_none() => Err(RpcError::new(
            INVALID_REQUEST,
            "notifications/initialized did not come",
        )),
        _ => Ok(()),
    }
}

/// Modern requests say who sends them, and which revision they are of.
pub(crate) fn check_modern(server: &Server, request: &Request) -> Result<(), RpcError> {
    let params = &request.params;
    let meta = params.get("_meta").unwrap_or(&Value::Null);
    if request.method == "initialize" && meta.get(VERSION_KEY).is_none() {
        let requested = params.get("protocolVersion").and_then(Value::as_str);
        return Err(unsupported(server, requested.unwrap_or_default()));
    }
    let Some(version) = meta.get(VERSION_KEY).and_then(Value::as_str) else {
        return Err(missing(VERSION_KEY));
    };
    if !meta.get(CAPABILITIES_KEY).is_some_and(Value::is_object) {
        return Err(missing(CAPABILITIES_KEY));
    }
    if let Some(client) = meta.get(CLIENT_KEY) {
        check_implementation(Some(client))?;
    }
    if server.options.revisions(Era::Modern).contains(&version) {
        Ok(())
    } else {
        Err(unsupported(server, version))
    }
}

fn missing(key: &str) -> RpcError {
    RpcError::invalid_params(format!("_meta has no proper {key}"))
}

fn unsupported(server: &Server, requested: &str) -> RpcError {
    RpcError::new(UNSUPPORTED_VERSION, "unsupported protocol version")
        .with(json!({"supported": supported(server), "requested": requested}))
}

/// All revisions, newest first: those of the first era are used through `initialize`.
fn supported(server: &Server) -> Vec<&'static str> {
    let mut supported = server.options.revisions(Era::First);
    supported.extend(server.options.revisions(Era::Modern));
    supported.reverse();
    supported
}

fn check_implementation(value: Option<&Value>) -> Result<(), RpcError> {
    let has = |key: &str| value.is_some_and(|value| value.get(key).is_some_and(Value::is_string));
    if has("name") && has("version") {
        Ok(())
    } else {
        let message = "clientInfo has no name or no version";
        Err(RpcError::invalid_params(message))
    }
}
