//! What models write when they search for tools and call what they found.

use openclaw_content::{ModelText, note};
use serde_json::{Map, Value};

use super::definitions::{CALL_TOOL, DESCRIBE_TOOL, SEARCH_TOOLS};
use crate::names::RESERVED;

/// How many tools are named where the model does not say how many.
pub(super) const DEFAULT_LIMIT: usize = 5;
/// How many are named at most.
pub(super) const MOST_LIMIT: usize = 20;
/// How much of a query counts, in bytes.
const LONGEST_QUERY: usize = 1_000;
/// How long a name may be that is looked for, in bytes: no spelling of a tool that can be offered is
/// longer, but for those that nobody writes.
const LONGEST_NAME: usize = 1_000;

/// What the tool is called with which people manage servers.
const MANAGE: &str = "mcp_manage";

/// What is looked for, and how many are wanted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Query<'a> {
    pub(super) text: &'a str,
    pub(super) limit: usize,
}

/// A call of a tool that was made through `mcp_call_tool`.
#[derive(Debug, PartialEq)]
pub(crate) struct Through {
    /// The tool, in any spelling.
    pub(crate) name: String,
    /// What it is called with.
    pub(crate) arguments: Map<String, Value>,
}

/// Reads what `mcp_search_tools` was called with.
pub(super) fn query(arguments: &Map<String, Value>) -> Result<Query<'_>, ModelText> {
    let Some(text) = arguments.get("query").and_then(Value::as_str) else {
        return Err(note("{} needs a query: a text.", &[SEARCH_TOOLS]));
    };
    let limit = limit(arguments.get("limit")).ok_or_else(|| {
        let told = "The limit of {} must be an integer of at least 1.";
        note(told, &[SEARCH_TOOLS])
    })?;
    let end = text.floor_char_boundary(LONGEST_QUERY);
    let text = bare(text.get(..end).unwrap_or_default());
    Ok(Query { text, limit })
}

/// How many tools are wanted: models write whole numbers as fractions or texts at times.
fn limit(value: Option<&Value>) -> Option<usize> {
    let wanted = match value {
        None | Some(Value::Null) => return Some(DEFAULT_LIMIT),
        Some(Value::String(text)) => text.trim().parse::<u64>().ok()?,
        Some(Value::Number(number)) => number.as_u64().or_else(|| {
            let text = number.to_string();
            text.strip_suffix(".0")?.parse().ok()
        })?,
        Some(_) => return None,
    };
    let wanted = usize::try_from(wanted).unwrap_or(MOST_LIMIT);
    (wanted > 0).then(|| wanted.min(MOST_LIMIT))
}

/// The name that `mcp_describe_tool` was called with.
pub(super) fn described(arguments: &Map<String, Value>) -> Result<&str, ModelText> {
    name(arguments, DESCRIBE_TOOL)
}

/// Reads what `mcp_call_tool` was called with.
pub(crate) fn through(arguments: &Map<String, Value>) -> Result<Through, ModelText> {
    let name = name(arguments, CALL_TOOL)?;
    if name == CALL_TOOL {
        let told = "{} can't call itself; give the name of a tool of a server.";
        return Err(note(told, &[CALL_TOOL]));
    }
    // It is for people only.
    if name == MANAGE {
        return Err(note("There is no tool {} that can be called.", &[name]));
    }
    if RESERVED.contains(&name) {
        let told = "{} calls tools of MCP servers only; {} has to be called by itself.";
        return Err(note(told, &[CALL_TOOL, name]));
    }
    let arguments = match arguments.get("arguments") {
        None | Some(Value::Null) => Some(Map::new()),
        Some(Value::Object(object)) => Some(object.clone()),
        // Some models write the object as a text.
        Some(Value::String(text)) if text.trim().is_empty() => Some(Map::new()),
        Some(Value::String(text)) => serde_json::from_str(text).ok(),
        Some(_) => None,
    };
    let Some(arguments) = arguments else {
        let told = "The call was not made: the arguments of {} have to be a JSON object.";
        return Err(note(told, &[name]));
    };
    let name = name.to_owned();
    Ok(Through { name, arguments })
}

fn name<'a>(arguments: &'a Map<String, Value>, tool: &str) -> Result<&'a str, ModelText> {
    let name = arguments.get("name").and_then(Value::as_str).map(bare);
    match name {
        Some(name) if !name.is_empty() && name.len() <= LONGEST_NAME => Ok(name),
        _ => Err(note("{} needs the name of a tool: a text.", &[tool])),
    }
}

/// A text without what models put around names.
fn bare(text: &str) -> &str {
    let around = |character: char| character.is_whitespace() || "`\"'".contains(character);
    text.trim_matches(around)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(object) => object,
            other => panic!("not an object: {other}"),
        }
    }

    #[test]
    fn a_limit_is_a_number_in_its_range() {
        for (value, expected) in [
            (json!(null), Some(5)),
            (json!(1), Some(1)),
            (json!(20), Some(20)),
            (json!(1_000_000), Some(20)),
            (json!(3.0), Some(3)),
            (json!(" 7 "), Some(7)),
            (json!(0), None),
            (json!(-1), None),
            (json!(2.5), None),
            (json!("all"), None),
            (json!([5]), None),
            (json!(true), None),
        ] {
            assert_eq!(limit(Some(&value)), expected, "{value}");
        }
        assert_eq!(limit(None), Some(5));
    }

    #[test]
    fn arguments_may_be_missing_or_written_as_a_text() {
        for written in [
            json!({"name": "a/b"}),
            json!({"name": " `a/b` ", "arguments": null}),
            json!({"name": "a/b", "arguments": {}}),
            json!({"name": "a/b", "arguments": "{}"}),
            json!({"name": "a/b", "arguments": " "}),
        ] {
            let through = through(&object(written.clone())).unwrap();
            assert_eq!(
                (through.name.as_str(), through.arguments.len()),
                ("a/b", 0),
                "{written}"
            );
        }
        let written = json!({"name": "a/b", "arguments": "{\"x\": [1]}"});
        let through = through(&object(written)).unwrap();
        assert_eq!(Value::Object(through.arguments), json!({"x": [1]}));
    }

    #[test]
    fn what_is_no_call_gets_a_sentence() {
        for (written, expected) in [
            (json!({}), "needs the name of a tool"),
            (json!({"name": 7}), "needs the name of a tool"),
            (json!({"name": " "}), "needs the name of a tool"),
            (
                json!({"name": "x".repeat(2_000)}),
                "needs the name of a tool",
            ),
            (json!({"name": "a", "arguments": [1]}), "a JSON object"),
            (json!({"name": "a", "arguments": "[1]"}), "a JSON object"),
            (json!({"name": "a", "arguments": "{"}), "a JSON object"),
            (json!({"name": "a", "arguments": 1}), "a JSON object"),
            (json!({"name": "mcp_call_tool"}), "can't call itself"),
            (json!({"name": "mcp_manage"}), "There is no tool mcp_manage"),
            (json!({"name": "mcp_read_result"}), "called by itself"),
        ] {
            let told = through(&object(written.clone())).unwrap_err();
            assert!(told.as_str().contains(expected), "{written}: {told}");
        }
    }

    proptest! {
        #[test]
        fn no_arguments_break_it(query_text in ".{0,40}", name_text in ".{0,40}", text in ".{0,40}") {
            let written = object(json!({
                "query": query_text, "limit": text.clone(), "name": name_text, "arguments": text,
            }));
            let _ = (query(&written), described(&written), through(&written));
        }
    }
}
