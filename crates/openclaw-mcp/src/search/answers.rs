//! What models are told about tools that they look for.

use openclaw_content::{ModelText, definition_text, note};
use openclaw_ranking::terms;
use serde_json::{Map, Value};

use super::arguments::{described, query};
use super::near::near;
use crate::assembly::{AgentTool, AgentTools};

/// How much of a description stands in what a search found, in bytes: twenty tools stay below 6 KB.
const SUMMARY_BYTES: usize = 200;
/// How much of a schema is shown, in bytes.
const SCHEMA_BYTES: usize = 16_000;

/// What a model is told, and the names of the tools that it knows from then on.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) text: ModelText,
    pub(crate) names: Vec<String>,
}

/// Answers a call of `mcp_search_tools`, or says in a sentence what is wrong with it.
pub(crate) fn answer_search(
    tools: &AgentTools,
    arguments: &Map<String, Value>,
) -> Result<Found, ModelText> {
    let query = query(arguments)?;
    let hits = tools.search(query.text, query.limit);
    let count = hits.best.len();
    if count == 0 && terms(query.text).is_empty() {
        let told = "The query says nothing that tools could be found by. Describe in a few words \
                    what has to be done; the tools are too many to list all of them.";
        return Err(note(told, &[]));
    }
    if count == 0 {
        let told = "No tool fits. Describe in other words what has to be done.";
        let (text, names) = (note(told, &[]), Vec::new());
        return Ok(Found { text, names });
    }
    let told = if count == 1 {
        "{} tool fits. What it takes is told by mcp_describe_tool; mcp_call_tool calls it."
    } else {
        "{} tools fit, best first. What one takes is told by mcp_describe_tool; mcp_call_tool calls \
         it."
    };
    let mut lines = vec![note(told, &[&count.to_string()])];
    for tool in &hits.best {
        lines.push(note("- {}", &[tool.name().as_str()]));
        lines.push(summary(tool));
    }
    if hits.more > 0 {
        let told = "{} more fit, and are not shown. Say more exactly what has to be done to see \
                    others.";
        lines.push(note(told, &[&hits.more.to_string()]));
    }
    let names = hits.best.iter().map(|tool| tool.name().to_string());
    Ok(Found {
        names: names.collect(),
        text: ModelText::joined(&lines),
    })
}

/// Answers a call of `mcp_describe_tool`, or says in a sentence what is wrong with it.
pub(crate) fn answer_describe(
    tools: &AgentTools,
    arguments: &Map<String, Value>,
) -> Result<Found, ModelText> {
    let name = described(arguments)?;
    let called = tools.called(name);
    let tool = match called.as_slice() {
        [tool] => *tool,
        [] => {
            let unknown = note("There is no tool {} that can be used.", &[name]);
            return Err(match suggestion(tools, name) {
                Some(suggestion) => ModelText::joined([&unknown, &suggestion]),
                None => unknown,
            });
        }
        several => {
            let told = "The name {} may mean one of several tools:";
            return Err(listed(note(told, &[name]), several));
        }
    };
    let schema = serde_json::to_string(&tool.prepared.schema).unwrap_or_default();
    let shown = definition_text(&schema, SCHEMA_BYTES);
    let mut lines = vec![
        note("{}", &[tool.name().as_str()]),
        tool.prepared.description.clone(),
        note("It takes what this JSON Schema says:", &[]),
        shown.text,
    ];
    if shown.is_cut {
        let told = "Not all of the schema is shown: it has {} bytes.";
        lines.push(note(told, &[&schema.len().to_string()]));
    }
    Ok(Found {
        text: ModelText::joined(&lines),
        names: vec![tool.name().to_string()],
    })
}

/// Tools with names like one that there is not, if there are any.
pub(crate) fn suggestion(tools: &AgentTools, name: &str) -> Option<ModelText> {
    let near = near(tools.offered(), name);
    let told = "Perhaps one of these is meant:";
    (!near.is_empty()).then(|| listed(note(told, &[]), &near))
}

fn listed(heading: ModelText, tools: &[&AgentTool]) -> ModelText {
    let mut lines = vec![heading];
    let names = tools.iter().take(5);
    lines.extend(names.map(|tool| note("- {}", &[tool.name().as_str()])));
    ModelText::joined(&lines)
}

/// The beginning of a description, on one line.
fn summary(tool: &AgentTool) -> ModelText {
    let text = tool.prepared.description.as_str();
    // Spaces are few: what is joined of this is longer than what is shown.
    let end = text.floor_char_boundary(4 * SUMMARY_BYTES);
    let words = text.get(..end).unwrap_or_default().split_whitespace();
    let line = words.collect::<Vec<_>>().join(" ");
    definition_text(&line, SUMMARY_BYTES).text
}
