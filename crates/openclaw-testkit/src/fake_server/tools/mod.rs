//! The tools: what each does when it is called.

mod asking;
mod content;
mod definitions;
mod machine;
mod timing;

use serde_json::{Value, json};

use super::call::Call;
use super::listening::{self, Change};
use super::message::{INVALID_PARAMS, Outcome, RpcError, failure, text};
use super::options::Era;
use super::resources;

pub(crate) use definitions::{header_parameters, list};

/// The levels of log messages, least severe first.
const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// Calls a tool.
pub(crate) async fn call(call: &Call) -> Outcome {
    let name = call.text_parameter("name")?;
    let listed = list(&call.server);
    let is_listed = |tool: &Value| tool.get("name").and_then(Value::as_str) == Some(name);
    let is_forgotten = call.server.options.forget_tool.as_deref() == Some(name);
    let tool = listed.iter().find(|tool| is_listed(tool));
    let Some(tool) = tool.filter(|_| !is_forgotten) else {
        return Err(RpcError::invalid_params(format!("unknown tool: {name}")));
    };
    check_arguments(call, tool)?;
    match name {
        "echo" => Ok(text(argument(call, "message").as_str().unwrap_or_default())),
        "add" => Ok(add(call)),
        "sleep" | "slow" => timing::call(call, name).await,
        "big" | "image" | "audio" | "document" | "resource" | "link" | "mixed" => {
            Ok(content::call(call, name))
        }
        "fail" => Ok(failure("the tool failed, as it was told to")),
        "protocol_error" => Err(RpcError::new(INVALID_PARAMS, "an error of the protocol")
            .with(json!({"reason": "as it was told to"}))),
        "elicit" | "elicit_url" | "roots" | "sample" | "ping_client" => {
            asking::call(call, name).await
        }
        "change_tools" => {
            let number = call.server.add_tool();
            listening::announce(&call.server, Change::Tools).await;
            Ok(text(format!("there is now added_{number}")))
        }
        "touch_resource" => {
            let times = call.server.touch();
            let change = Change::Resource(resources::CHANGING);
            listening::announce(&call.server, change).await;
            Ok(text(format!("touched {times} times")))
        }
        "end_subscriptions" => {
            let listeners = call.server.listeners();
            for listener in &listeners {
                listener.ended.notify_one();
            }
            Ok(text(format!("ended {} subscriptions", listeners.len())))
        }
        "log" => Ok(log(call).await),
        "headers" | "region" => Ok(headers(call)),
        "environment" | "directory" | "crash" | "spawn_child" => machine::call(call, name),
        // What was generated or added echoes its arguments.
        _ => Ok(text(
            call.parameter("arguments")
                .unwrap_or(&json!({}))
                .to_string(),
        )),
    }
}

/// An argument of the tool; null if it is not there.
fn argument<'call>(call: &'call Call, name: &str) -> &'call Value {
    call.parameter("arguments")
        .and_then(|arguments| arguments.get(name))
        .unwrap_or(&Value::Null)
}

/// A number among the arguments, or what it is without.
fn number(call: &Call, name: &str, otherwise: u64) -> u64 {
    argument(call, name).as_u64().unwrap_or(otherwise)
}

/// The arguments have the types that the schema says, as far as this program's schemas go.
fn check_arguments(call: &Call, tool: &Value) -> Result<(), RpcError> {
    let empty = json!({});
    let arguments = call.parameter("arguments").unwrap_or(&empty);
    if !arguments.is_object() {
        return Err(RpcError::invalid_params("arguments is not an object"));
    }
    let required = tool["inputSchema"]["required"].as_array();
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        let value = &arguments[name];
        let fits = match tool["inputSchema"]["properties"][name]["type"].as_str() {
            Some("string") => value.is_string(),
            Some("number") => value.is_number(),
            Some("integer") => value.is_u64(),
            _ => !value.is_null(),
        };
        if !fits {
            let message = format!("the argument {name} is missing or has the wrong type");
            return Err(RpcError::invalid_params(message));
        }
    }
    Ok(())
}

fn add(call: &Call) -> Value {
    let (first, second) = (argument(call, "a"), argument(call, "b"));
    let sum = match (first.as_i64(), second.as_i64()) {
        (Some(first), Some(second)) => json!(first.wrapping_add(second)),
        _ => json!(first.as_f64().unwrap_or_default() + second.as_f64().unwrap_or_default()),
    };
    let structured = json!({"sum": sum});
    let mut result = text(structured.to_string());
    result["structuredContent"] = structured;
    result
}

async fn log(call: &Call) -> Value {
    let level = argument(call, "level").as_str().unwrap_or("info");
    let rank = |level: &str| LEVELS.iter().position(|known| *known == level);
    let least = match call.era {
        Era::First => call.session.log_level(),
        // Without the key there must be no messages.
        Era::Modern => call
            .meta("io.modelcontextprotocol/logLevel")
            .and_then(Value::as_str)
            .map_or(LEVELS.len(), |level| rank(level).unwrap_or_default()),
    };
    if rank(level).unwrap_or_default() < least {
        return text("not logged");
    }
    let params = json!({"level": level, "logger": "fake", "data": {"text": "a log message"}});
    call.notify("notifications/message", &params).await;
    text("logged")
}

/// Keeps messages that are less severe from the client.
pub(crate) fn set_log_level(call: &Call) -> Outcome {
    let level = call.text_parameter("level")?;
    match LEVELS.iter().position(|known| *known == level) {
        Some(rank) => {
            call.session.set_log_level(rank);
            Ok(json!({}))
        }
        None => Err(RpcError::invalid_params(format!("unknown level: {level}"))),
    }
}

/// The headers that the request came with.
fn headers(call: &Call) -> Value {
    let Some(headers) = &call.headers else {
        return failure("the request came without headers");
    };
    let mut seen = json!({});
    for (name, value) in headers {
        seen[name.as_str()] = json!(String::from_utf8_lossy(value.as_bytes()));
    }
    text(seen.to_string())
}
