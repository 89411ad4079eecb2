//! Tools that have to be found before they can be called.
//!
//! ```text
//! no tool that is defined fits → search → describe the best → call it
//! ```
//!
//! Each step follows from the answer to the one before, and none leads back: there is one search for
//! a message at most.

use openclaw_content::definition_text;
use openclaw_conversation::{AnswerPart, ToolAnswer};
use openclaw_ranking::terms;
use serde_json::{Map, Value, json};

use super::choose::{Choice, choose};
use super::stated::Statement;
use super::words::{nothing_found, nothing_said, refusal};
use crate::tools::{ToolSet, ToolSpec};

/// The tool that finds tools.
pub(super) const SEARCH: &str = "mcp_search_tools";
/// The tool that says what one takes.
pub(super) const DESCRIBE: &str = "mcp_describe_tool";
/// The tool that calls one.
pub(super) const CALL: &str = "mcp_call_tool";

/// How many tools are wanted of a search: it knows less of a message than we do.
const LIMIT: usize = 10;
/// How much of a message is searched for, in bytes.
const LONGEST_QUERY: usize = 400;
/// How much of a description counts, in bytes.
const DESCRIPTION: usize = 4_096;

/// What is done next.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// A tool is called.
    Call(String, Map<String, Value>),
    /// This is said.
    Say(String),
}

/// The search for what a message asks for, where no tool that is defined was chosen; nothing where
/// tools can't be searched for, or one of these is at least worth telling.
pub(super) fn search(said: &str, choice: &Choice<'_>, tools: &ToolSet) -> Option<Step> {
    let has = |name: &str| tools.tools().iter().any(|tool| tool.name == name);
    if ![SEARCH, DESCRIBE, CALL].into_iter().all(has) {
        return None;
    }
    match query(said) {
        Some(query) => Some(step(SEARCH, json!({ "query": query, "limit": LIMIT }))),
        None => matches!(choice, Choice::Nothing { .. }).then(|| Step::Say(nothing_said())),
    }
}

/// What follows from the answer to a step; nothing if it is the result, or the message named the tool
/// that answered.
pub(super) fn next(said: &str, answer: &ToolAnswer, tools: &ToolSet) -> Option<Step> {
    let choice = choose(said, tools);
    let is_named = matches!(&choice, Choice::Call { tool, .. } if tool.name == answer.name);
    match answer.name.as_str() {
        _ if is_named || answer.is_error => None,
        SEARCH => Some(after_search(choice, answer, tools)),
        DESCRIBE => after_description(said, choice, answer),
        _ => None,
    }
}

fn after_search(choice: Choice<'_>, answer: &ToolAnswer, tools: &ToolSet) -> Step {
    let describe = |name: &str| step(DESCRIBE, json!({ "name": name }));
    match choice {
        Choice::Call { tool, .. } if answer.found.contains(&tool.name) => describe(&tool.name),
        Choice::Call {
            tool, arguments, ..
        } => Step::Call(tool.name.clone(), arguments),
        Choice::Nothing { .. } => {
            let is_defined = |name: &String| tools.tools().iter().any(|tool| tool.name == *name);
            match answer.found.first() {
                // There was no room for its definition.
                Some(best) if !is_defined(best) => describe(best),
                _ => Step::Say(nothing_found(&choice)),
            }
        }
        other => Step::Say(refusal(&other)),
    }
}

fn after_description(said: &str, choice: Choice<'_>, answer: &ToolAnswer) -> Option<Step> {
    let name = answer.found.first()?;
    if let Choice::Call {
        tool, arguments, ..
    } = choice
        && tool.name == *name
    {
        return Some(call(name, &arguments));
    }
    let alone = ToolSet::new(vec![described(name, answer)?], |schema, _| {
        Ok(schema.clone())
    });
    Some(match choose(said, &alone) {
        Choice::Call { arguments, .. } => call(name, &arguments),
        choice @ Choice::Nothing { .. } => Step::Say(nothing_found(&choice)),
        other => Step::Say(refusal(&other)),
    })
}

fn call(name: &str, arguments: &Map<String, Value>) -> Step {
    step(CALL, json!({ "name": name, "arguments": arguments }))
}

fn step(tool: &str, arguments: Value) -> Step {
    let arguments = match arguments {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    Step::Call(tool.to_owned(), arguments)
}

/// The words of a message: values that stand in it say nothing about what is to be done.
fn query(said: &str) -> Option<String> {
    // What is marked and is one word may be a name.
    let is_name = |quoted: &str| !quoted.contains(char::is_whitespace);
    let only_words = Statement::read(said, is_name).only_words();
    [only_words.as_str(), said].into_iter().find_map(|text| {
        let words = text.get(..text.floor_char_boundary(LONGEST_QUERY))?;
        let words: Vec<&str> = words.split_whitespace().collect();
        let words = words.join(" ");
        (!terms(&words).is_empty()).then_some(words)
    })
}

/// A tool as its description says that it is: the schema stands alone on its line, behind everything
/// that a server says.
fn described(name: &str, answer: &ToolAnswer) -> Option<ToolSpec> {
    let texts = answer.parts.iter().filter_map(|part| match part {
        AnswerPart::Text { text } => Some(text.as_str()),
        AnswerPart::Media(_) => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    let lines: Vec<&str> = text.lines().collect();
    let schema = |line: &&str| serde_json::from_str::<Map<String, Value>>(line).ok();
    let parameters = lines.iter().rev().find_map(schema)?;
    let description = lines.get(1..).unwrap_or_default().join("\n");
    Some(ToolSpec {
        name: name.to_owned(),
        description: definition_text(&description, DESCRIPTION).text,
        parameters,
    })
}
