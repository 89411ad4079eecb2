//! Which tools may be used.

use serde_json::{Value as Json, json};

use crate::expand::Text;
use crate::shape::{Context, Definitions, Shape, choices, object};
use crate::tree::{Node, Value};

choices! {
    /// When a person is asked before a tool runs.
    pub enum Approval {
        /// Never.
        Off = "off",
        /// For tools that are not known to only read.
        Auto = "auto",
        /// For every tool.
        All = "all",
    }
}

choices! {
    /// What happens where nobody can be asked.
    pub enum WithoutPerson {
        /// The tool runs.
        Allow = "allow",
        /// The tool is refused.
        Deny = "deny",
    }
}

choices! {
    /// Whether the model gets a search for tools instead of all definitions.
    pub enum ToolSearch {
        /// Where all definitions would take too much of its context.
        Auto = "auto",
        /// Always.
        On = "on",
        /// Never.
        Off = "off",
    }
}

object! {
    /// Names of tools that may or may not be used. `*` stands for any text, upper and lower case
    /// are the same, and every spelling of a tool counts: `mcp_srv_tool`, `srv__tool`, `srv/tool`.
    open RawPolicy as "toolPolicy" {
        /// Only these. Nothing or an empty list means all.
        allow: Vec<Text> = "allow";
        /// Not these, whatever is allowed.
        deny: Vec<Text> = "deny";
    }
}

object! {
    /// Which tools may be used, and when a person is asked.
    open RawTools as "tools" {
        /// Only these tools. Nothing or an empty list means all.
        allow: Vec<Text> = "allow";
        /// Not these tools, whatever is allowed.
        deny: Vec<Text> = "deny";
        /// When a person is asked before a tool runs.
        approval: Approval = "approval", default "auto";
        /// What happens where nobody can be asked.
        approval_without_person: WithoutPerson = "approvalWithoutPerson", default "allow";
        /// Tools that are known to only read; `*` stands for any text.
        read_only: Vec<Text> = "readOnly";
        /// Whether the model searches for tools instead of seeing all definitions.
        tool_search: RawToolSearch = "toolSearch", default "auto";
    }
}

object! {
    /// Tool search in the manner of the TypeScript OpenClaw.
    open RawToolSearchObject as "toolSearch" {
        /// Switches it on or off.
        enabled: bool = "enabled";
    }
}

/// Tool search: a word, or what the TypeScript OpenClaw takes, a boolean or an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawToolSearch(pub(crate) ToolSearch);

impl Shape for RawToolSearch {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let switched = |enabled: bool| {
            Self(if enabled {
                ToolSearch::On
            } else {
                ToolSearch::Off
            })
        };
        match &node.value {
            Value::Bool(enabled) => Some(switched(*enabled)),
            Value::Object(_) => {
                let object = RawToolSearchObject::decode(node, context)?;
                let enabled = object.enabled.value().copied();
                Some(enabled.map_or(Self(ToolSearch::Auto), switched))
            }
            _ => ToolSearch::decode(node, context).map(Self),
        }
    }

    fn schema(definitions: &mut Definitions) -> Json {
        let object = RawToolSearchObject::schema(definitions);
        json!({ "anyOf": [ToolSearch::schema(definitions), { "type": "boolean" }, object] })
    }
}
