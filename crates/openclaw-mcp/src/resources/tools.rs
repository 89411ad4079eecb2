//! The tools with which a model gets at resources.

use serde_json::json;

use crate::own::OwnTool;
use crate::policy::Policy;
use crate::supervise::Catalog;

/// What the tool is called that reads a resource.
pub const READ_RESOURCE: &str = "mcp_read_resource";
/// What the tool is called that lists resources.
pub const LIST_RESOURCES: &str = "mcp_list_resources";

const READ: &str = "Reads a resource of an MCP server: a file, a page, a record. The server and the \
    address are those that the list of resources names; where it names a template, put values into \
    its braces.";
const LIST: &str = "Lists the resources of MCP servers and the templates for addresses of more, with \
    what the servers say about them.";

/// Whether it is a tool of ours for resources.
pub(crate) fn is_resource_tool(name: &str) -> bool {
    [READ_RESOURCE, LIST_RESOURCES].contains(&name)
}

/// The definition of `mcp_read_resource`.
pub(super) fn read_tool() -> OwnTool {
    let properties = json!({
        "server": {
            "type": "string",
            "description": "The name of the server.",
        },
        "uri": {
            "type": "string",
            "description": "The address of the resource.",
        },
    });
    OwnTool::new(READ_RESOURCE, READ, properties, &["server", "uri"])
}

/// The definition of `mcp_list_resources`.
pub(super) fn list_tool() -> OwnTool {
    let properties = json!({
        "server": {
            "type": "string",
            "description": "The name of a server; all servers if it is not given.",
        },
        "query": {
            "type": "string",
            "description": "Words that must occur in what is listed.",
        },
        "offset": {
            "type": "integer",
            "minimum": 0,
            "description": "How many to pass over; none if it is not given.",
        },
    });
    OwnTool::new(LIST_RESOURCES, LIST, properties, &[])
}

/// The tools for resources that a model is told about, given what there is: none where no server
/// offers any.
pub(crate) fn resource_tools<'c>(
    policy: &Policy,
    mut catalogs: impl Iterator<Item = &'c Catalog>,
) -> Vec<OwnTool> {
    if !catalogs.any(|it| !it.resources.is_empty() || !it.templates.is_empty()) {
        return Vec::new();
    }
    [list_tool(), read_tool()]
        .into_iter()
        .filter(|tool| policy.decide_own(tool.name).is_allowed())
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::{ArgumentCheck, RESERVED};

    #[test]
    fn the_definitions_take_what_they_describe() {
        for tool in [read_tool(), list_tool()] {
            assert!(RESERVED.contains(&tool.name) && is_resource_tool(tool.name));
            let check = ArgumentCheck::new(&tool.input_schema).unwrap();
            let good = json!({"server": "a", "uri": "b", "query": "c", "offset": 1});
            let good = good.as_object().unwrap().clone();
            let known = tool.input_schema["properties"].as_object().unwrap();
            let good: Map<_, _> = good
                .into_iter()
                .filter(|(name, _)| known.contains_key(name))
                .collect();
            assert_eq!(good.len(), known.len());
            assert!(check.check(good).is_ok(), "{}", tool.name);
        }
        let check = ArgumentCheck::new(&read_tool().input_schema).unwrap();
        assert!(check.check(Map::new()).is_err());
    }
}
