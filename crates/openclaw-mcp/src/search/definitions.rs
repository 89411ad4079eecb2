//! The three tools, as models see them.

use serde_json::json;

use super::arguments::{DEFAULT_LIMIT, MOST_LIMIT};
use crate::own::OwnTool;

/// What the tool that finds tools is called.
pub const SEARCH_TOOLS: &str = "mcp_search_tools";
/// What the tool that describes one is called.
pub const DESCRIBE_TOOL: &str = "mcp_describe_tool";
/// What the tool that calls one is called.
pub const CALL_TOOL: &str = "mcp_call_tool";

const SEARCH: &str = "Finds tools of MCP servers. There are more tools than those that are defined \
    here: say in a few words what has to be done, or give the name of a tool. What is found can be \
    called from then on.";
const DESCRIBE: &str =
    "Tells what a tool of an MCP server does and what it takes, as a JSON Schema.";
const CALL: &str = "Calls a tool of an MCP server that is not defined here. What it takes is told by \
    mcp_describe_tool.";

/// The definition of `mcp_search_tools`.
pub fn search_tools_tool() -> OwnTool {
    let properties = json!({
        "query": {
            "type": "string",
            "description": "What the tool has to do, in a few words, or its name.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_LIMIT,
            "description": format!("How many tools are named at most; {DEFAULT_LIMIT} if it is not given."),
        },
    });
    OwnTool::new(SEARCH_TOOLS, SEARCH, properties, &["query"])
}

/// The definition of `mcp_describe_tool`.
pub fn describe_tool_tool() -> OwnTool {
    let properties = json!({
        "name": { "type": "string", "description": "The name that mcp_search_tools gave." },
    });
    OwnTool::new(DESCRIBE_TOOL, DESCRIBE, properties, &["name"])
}

/// The definition of `mcp_call_tool`.
pub fn call_tool_tool() -> OwnTool {
    let properties = json!({
        "name": { "type": "string", "description": "The name that mcp_search_tools gave." },
        "arguments": {
            "type": "object",
            "description": "What the tool is called with, as its own schema says; nothing if it is \
                not given.",
        },
    });
    OwnTool::new(CALL_TOOL, CALL, properties, &["name"])
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::{ArgumentCheck, RESERVED, SchemaDialect, schema_for_model};

    #[test]
    fn the_three_are_ours_and_every_service_takes_their_schemas() {
        for tool in [search_tools_tool(), describe_tool_tool(), call_tool_tool()] {
            assert!(RESERVED.contains(&tool.name), "{}", tool.name);
            for dialect in [SchemaDialect::General, SchemaDialect::Gemini] {
                let adapted = schema_for_model(&tool.input_schema, dialect);
                assert!(adapted.is_ok(), "{}: {adapted:?}", tool.name);
            }
            let check = ArgumentCheck::new(&tool.input_schema).unwrap();
            assert!(check.check(Map::new()).is_err(), "{}", tool.name);
        }
    }
}
