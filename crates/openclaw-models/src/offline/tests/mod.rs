//! The model on the tools of real servers.

mod arbitrary;
mod asked;
mod conversation;
mod meant;
mod searching;

use std::sync::LazyLock;

use openclaw_content::description;
use openclaw_conversation::{AssistantPart, CallArguments, Message, UserPart};
use serde_json::{Map, Value};

use super::OfflineModel;
use crate::model::{Model, ModelEvent, ModelReply, ModelRequest, SystemPrompt};
use crate::tools::{ToolSet, ToolSpec};

const EVERYTHING: &str = include_str!("fixtures/everything.json");
const FILES: &str = include_str!("fixtures/files.json");
const TIME: &str = include_str!("fixtures/time.json");
const FETCH: &str = include_str!("fixtures/fetch.json");
const MEMORY: &str = include_str!("fixtures/memory.json");
const DEMO: &str = include_str!("fixtures/demo.json");

/// The tools of some servers, as an agent has them.
fn tools(servers: &[(&str, &str)]) -> ToolSet {
    let mut all = Vec::new();
    for (server, list) in servers {
        let list: Vec<Value> = serde_json::from_str(list).unwrap();
        for tool in list {
            let text = |key: &str| tool[key].as_str().unwrap();
            all.push(ToolSpec {
                name: format!("mcp_{server}_{}", text("name")),
                description: description(server, text("description")).text,
                parameters: tool["inputSchema"].as_object().unwrap().clone(),
            });
        }
    }
    all.push(ToolSpec {
        name: "mcp_read_result".to_owned(),
        description: openclaw_content::note("Reads on in a long result of a tool.", &[]),
        parameters: Map::new(),
    });
    all.sort_by(|one, other| one.name.cmp(&other.name));
    ToolSet::new(all, |schema, _| Ok(schema.clone()))
}

/// The tools of all servers.
static ALL: LazyLock<ToolSet> = LazyLock::new(|| {
    tools(&[
        ("everything", EVERYTHING),
        ("files", FILES),
        ("time", TIME),
        ("fetch", FETCH),
        ("memory", MEMORY),
    ])
});

fn user(text: &str) -> Message {
    let text = text.to_owned();
    Message::User {
        parts: vec![UserPart::Text { text }],
    }
}

/// What is answered to a conversation, and what is heard of it.
fn reply(messages: &[Message], tools: &ToolSet) -> (ModelReply, Vec<ModelEvent>) {
    let model = OfflineModel::new();
    let request = ModelRequest {
        system: SystemPrompt::default(),
        messages,
        tools,
        max_tokens: None,
    };
    let mut heard = Vec::new();
    let mut listener = |event| heard.push(event);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let reply = runtime
        .block_on(model.reply(request, &mut listener))
        .unwrap();
    (reply, heard)
}

/// The tool that a message leads to, and with what, or what is said instead.
fn asked(text: &str, tools: &ToolSet) -> Result<(String, Value), String> {
    let (reply, _) = reply(&[user(text)], tools);
    match &reply.message.parts[..] {
        [AssistantPart::ToolCall(call)] => {
            let CallArguments::Object(arguments) = &call.arguments else {
                panic!("{call:?}");
            };
            Ok((call.name.clone(), Value::Object(arguments.clone())))
        }
        [AssistantPart::Text { text }] => Err(text.clone()),
        other => panic!("{other:?}"),
    }
}
