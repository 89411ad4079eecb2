//! The words of services, and what they mean.

use serde_json::Value;

/// The words that say that a conversation is too long.
pub(super) const TOO_LONG: [&str; 14] = [
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
    "maximum context",
    "exceeds the maximum number of tokens",
    "input token count",
    "too many tokens",
    "exceed context limit",
    "request_too_large",
    "reduce the length of the messages",
    "longer than the model's context",
];

/// The words that say that a key is wrong, where the status does not.
pub(super) const KEY: [&str; 6] = [
    "authentication_error",
    "permission_error",
    "invalid_api_key",
    "api_key_invalid",
    "api key not valid",
    "unauthenticated",
];

/// The words that say that a status of 403 is about a key: others are about countries, contents, or
/// whatever a service does not like.
pub(super) const PERMISSION: [&str; 9] = [
    "api key",
    "api_key",
    "api-key",
    "apikey",
    "authentic",
    "authoriz",
    "permission",
    "credential",
    "access token",
];

/// The words that say that there is no such model.
pub(super) const NO_MODEL: [&str; 6] = [
    "model_not_found",
    "is not a valid model",
    "not_found_error",
    "unknown model",
    "invalid model",
    "no such model",
];

/// The words that say that coming back later does not help.
pub(super) const NO_MONEY: [&str; 5] = [
    "insufficient_quota",
    "billing",
    "credit balance",
    "insufficient balance",
    "insufficient credits",
];

/// The words for programs that say the same of one that is asked too often. Words for people are no
/// sign then: they point at a page about billing where more can be bought.
pub(super) const NO_MONEY_KINDS: [&str; 2] = ["insufficient_quota", "billing_not_active"];

/// The words that say that it is asked too often.
pub(super) const BUSY: [&str; 4] = [
    "rate_limit",
    "rate limit",
    "resource_exhausted",
    "too_many_requests",
];

/// The words that say that it is out of order.
pub(super) const DOWN: [&str; 6] = [
    "overloaded",
    "api_error",
    "server_error",
    "timeout_error",
    "unavailable",
    "internal",
];

/// What a service says for people, however it writes that: as a text, as the findings of a
/// validation, or as anything else.
pub(super) fn for_people(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let texts: Vec<String> = items.iter().filter_map(for_people).collect();
            Some(texts.join("; "))
        }
        Value::Object(fields) => match (fields.get("msg"), fields.get("detail")) {
            (Some(Value::String(text)), _) => Some(match fields.get("loc").and_then(place) {
                Some(place) => format!("{place}: {text}"),
                None => text.clone(),
            }),
            (_, Some(detail)) => for_people(detail),
            _ => Some(value.to_string()),
        },
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
    }
}

/// Where in a request something is wrong: `body.messages.0`.
fn place(value: &Value) -> Option<String> {
    let segments = value.as_array()?.iter().map(|segment| match segment {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let segments: Vec<String> = segments.collect();
    (!segments.is_empty()).then(|| segments.join("."))
}
