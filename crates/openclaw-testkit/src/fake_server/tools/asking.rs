//! Tools that ask the client something: by requests in the first era, by replies in the modern one.

use serde_json::{Value, json};

use super::{argument, failure, number, text};
use crate::fake_server::call::Call;
use crate::fake_server::message::{
    MISSING_CAPABILITY, Outcome, RpcError, URL_ELICITATION_REQUIRED,
};
use crate::fake_server::options::Era;

/// A state that does not survive being parsed and written again.
const STATE: &str = "{\"unsorted\" : 1,\"ä\":  \"\\u00e4\" }";

pub(super) async fn call(call: &Call, name: &str) -> Outcome {
    if name == "ping_client" {
        return ping(call).await;
    }
    if name == "elicit_url" && call.era == Era::First {
        return Err(url_required());
    }
    let (method, params) = question(name);
    let capability = method.split('/').next().unwrap_or_default();
    let declared = call.client_capabilities();
    match call.era {
        Era::First if name != "sample" && declared.get(capability).is_none() => {
            Ok(failure(format!("the client did not declare {capability}")))
        }
        Era::First => match call.ask(method, &params).await? {
            Ok(answer) => Ok(text(answer.to_string())),
            Err(error) => Ok(text(json!({"error": error}).to_string())),
        },
        Era::Modern if declared.get(capability).is_none() => {
            let message = format!("the client did not declare {capability}");
            Err(RpcError::new(MISSING_CAPABILITY, message)
                .with(json!({"requiredCapabilities": {capability: {}}})))
        }
        Era::Modern => rounds(call, method, &params),
    }
}

fn question(name: &str) -> (&'static str, Value) {
    match name {
        "roots" => ("roots/list", json!({})),
        "sample" => (
            "sampling/createMessage",
            json!({
                "messages": [{"role": "user", "content": {"type": "text", "text": "Say hello."}}],
                "maxTokens": 10,
            }),
        ),
        "elicit_url" => (
            "elicitation/create",
            json!({
                "mode": "url",
                "message": "Please visit this address",
                "url": "https://example.com/visit",
            }),
        ),
        _ => (
            "elicitation/create",
            json!({
                "message": "What is your name?",
                "requestedSchema": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "title": "Name", "minLength": 1},
                        "age": {"type": "integer", "minimum": 0, "default": 30},
                        "colour": {"type": "string", "enum": ["red", "green"], "default": "red"},
                        "sure": {"type": "boolean", "default": true},
                    },
                    "required": ["name"],
                },
            }),
        ),
    }
}

async fn ping(call: &Call) -> Outcome {
    if call.era == Era::Modern {
        return Ok(failure("there is no ping in this revision"));
    }
    match call.ask("ping", &json!({})).await? {
        Ok(answer) => Ok(text(answer.to_string())),
        Err(error) => Ok(failure(error.to_string())),
    }
}

/// The way of 2025-11-25 to ask for a visit: the request fails until it was made.
fn url_required() -> RpcError {
    RpcError::new(URL_ELICITATION_REQUIRED, "an address has to be visited").with(json!({
        "elicitations": [{
            "mode": "url",
            "elicitationId": "visit-1",
            "message": "Please visit this address",
            "url": "https://example.com/visit",
        }],
    }))
}

/// Asks by replying that input is required, until there were enough rounds.
fn rounds(call: &Call, method: &str, params: &Value) -> Outcome {
    let wanted = number(call, "rounds", 1).max(1);
    let keeps_state = argument(call, "stateless") != &json!(true);
    let ask = |round: u64| {
        let mut result = json!({
            "resultType": "input_required",
            "inputRequests": {format!("question-{round}"): {"method": method, "params": params}},
        });
        if keeps_state {
            result["requestState"] = json!(format!("{round} {STATE}"));
        }
        Ok(result)
    };
    let Some(answers) = call.parameter("inputResponses") else {
        if call.parameter("requestState").is_some() {
            return Err(RpcError::invalid_params(
                "requestState without inputResponses",
            ));
        }
        return ask(1);
    };
    let Some(answers) = answers.as_object() else {
        return Err(RpcError::invalid_params("inputResponses is not an object"));
    };
    let Some((key, answer)) = answers.iter().next().filter(|_| answers.len() == 1) else {
        return Err(RpcError::invalid_params("one answer was asked for"));
    };
    let round: u64 = key
        .strip_prefix("question-")
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| RpcError::invalid_params("nobody asked for that answer"))?;
    let expected = keeps_state.then(|| json!(format!("{round} {STATE}")));
    if call.parameter("requestState") != expected.as_ref() {
        let message = "requestState is not the one that was given";
        return Err(RpcError::invalid_params(message));
    }
    if round < wanted {
        ask(round + 1)
    } else {
        Ok(text(answer.to_string()))
    }
}
