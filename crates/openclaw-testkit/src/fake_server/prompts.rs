//! Prompts, and completing their arguments.

use serde_json::{Value, json};

use super::call::Call;
use super::message::{Outcome, RpcError};

/// What the argument `style` can be.
const STYLES: [&str; 4] = ["formal", "friendly", "funny", "short"];

pub(crate) fn list() -> Vec<Value> {
    vec![
        json!({"name": "plain", "description": "A prompt without arguments"}),
        json!({
            "name": "greeting",
            "title": "A greeting",
            "description": "Greets somebody",
            "arguments": [
                {"name": "name", "description": "Who is greeted", "required": true},
                {"name": "style", "description": "How", "required": false},
            ],
        }),
        json!({"name": "picture", "description": "A prompt with a picture and a resource"}),
    ]
}

pub(crate) fn get(call: &Call) -> Outcome {
    let text = |text: String| json!({"role": "user", "content": {"type": "text", "text": text}});
    match call.text_parameter("name")? {
        "plain" => Ok(json!({"messages": [text("Say something plain.".to_owned())]})),
        "greeting" => {
            let argument = |name: &str| {
                let arguments = call.parameter("arguments");
                arguments?.get(name)?.as_str().map(str::to_owned)
            };
            let name = argument("name")
                .ok_or_else(|| RpcError::invalid_params("the argument name is missing"))?;
            let style = argument("style").unwrap_or_else(|| "friendly".to_owned());
            Ok(json!({
                "description": format!("A {style} greeting for {name}"),
                "messages": [
                    text(format!("Greet {name} in a {style} way.")),
                    {"role": "assistant", "content": {"type": "text", "text": "Hello!"}},
                ],
            }))
        }
        "picture" => Ok(json!({"messages": [
            {"role": "user", "content": {
                "type": "image", "data": super::resources::PIXEL, "mimeType": "image/png",
            }},
            {"role": "user", "content": {"type": "resource", "resource": {
                "uri": "test://text", "mimeType": "text/plain", "text": "the text of a resource",
            }}},
        ]})),
        unknown => Err(RpcError::invalid_params(format!(
            "unknown prompt: {unknown}"
        ))),
    }
}

/// Completes the styles of a greeting and the numbers of the resource template.
pub(crate) fn complete(call: &Call) -> Outcome {
    let reference = call.parameter("ref").unwrap_or(&Value::Null);
    let argument = call.parameter("argument").unwrap_or(&Value::Null);
    let (Some(name), Some(value)) = (argument["name"].as_str(), argument["value"].as_str()) else {
        return Err(RpcError::invalid_params("argument has no name or no value"));
    };
    let known: Vec<String> = match (reference["type"].as_str(), name) {
        (Some("ref/prompt"), "style") if reference["name"] == json!("greeting") => {
            STYLES.map(str::to_owned).to_vec()
        }
        (Some("ref/resource"), "number") => (0..250).map(|number| number.to_string()).collect(),
        (Some("ref/prompt" | "ref/resource"), _) => Vec::new(),
        _ => {
            return Err(RpcError::invalid_params(
                "ref is neither a prompt nor a resource",
            ));
        }
    };
    let mut values: Vec<String> = known;
    values.retain(|known| known.starts_with(value));
    let total = values.len();
    // A reply has a hundred at most.
    values.truncate(100);
    let more = total > values.len();
    Ok(json!({"completion": {"values": values, "total": total, "hasMore": more}}))
}
