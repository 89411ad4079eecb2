//! Lists of tools.

use openclaw_engine::{ApprovalReport, ToolReport};
use serde_json::Value as Json;

use crate::{Page, Tone, count, name, word};

/// How many arguments of a tool are named.
const ARGUMENTS: usize = 12;

/// Tools by server. `server` is the one that was asked for.
pub fn tools(tools: &[ToolReport], server: Option<&str>, page: Page) -> String {
    if tools.is_empty() {
        return match server {
            Some(server) => format!("{} offers no tools that may be used\n", name(server)),
            None => format!(
                "there are no tools; `{} servers` shows the servers\n",
                page.speech.command()
            ),
        };
    }
    let mut servers: Vec<&str> = tools.iter().map(|tool| tool.server.as_str()).collect();
    servers.sort_unstable();
    servers.dedup();
    let groups: Vec<String> = servers
        .into_iter()
        .map(|server| {
            let own: Vec<&ToolReport> = tools.iter().filter(|tool| tool.server == server).collect();
            let title = page.paint(Tone::Strong, &name(server));
            let lines: String = own.iter().map(|tool| entry(tool, page)).collect();
            format!("{title} ({})\n{lines}", count(own.len(), "tool"))
        })
        .collect();
    groups.join("\n")
}

fn entry(tool: &ToolReport, page: Page) -> String {
    let called = name(&tool.name);
    let mut text = format!(
        "  {called}{}\n",
        page.line(&signature(tool), 2 + called.len())
    );
    let description = page.line(without_origin(&tool.description), 6);
    if !description.is_empty() {
        text.push_str(&format!(
            "      {}\n",
            page.paint(Tone::Quiet, &description)
        ));
    }
    if tool.changed {
        let tool = word(&tool.name);
        let command = page.speech.command();
        let words = format!("its definition has changed: `{command} approve {tool}`");
        text.push_str(&format!("      {}\n", page.paint(Tone::Attention, &words)));
    }
    text
}

/// What became of a definition that a person accepts.
pub fn approval(report: &ApprovalReport) -> String {
    let tool = name(&report.tool);
    if report.changed {
        format!("{tool}: the new definition is accepted\n")
    } else {
        format!("{tool}: its definition had not changed\n")
    }
}

/// A description without the words that tell a model whose it is: here they stand above it.
fn without_origin(description: &str) -> &str {
    description
        .strip_prefix("[MCP server: ")
        .and_then(|rest| rest.split_once(']'))
        .map_or(description, |(_, rest)| rest)
}

/// What a tool takes: what it needs first, what it may do without marked with `?`.
fn signature(tool: &ToolReport) -> String {
    let required: Vec<&str> = tool
        .input_schema
        .get("required")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    let properties = tool
        .input_schema
        .get("properties")
        .and_then(Json::as_object);
    let names = || {
        properties
            .into_iter()
            .flat_map(|properties| properties.keys())
    };
    let needed = names()
        .filter(|argument| required.contains(&argument.as_str()))
        .map(|argument| name(argument));
    let optional = names()
        .filter(|argument| !required.contains(&argument.as_str()))
        .map(|argument| format!("{}?", name(argument)));
    let mut arguments: Vec<String> = needed.chain(optional).collect();
    if arguments.len() > ARGUMENTS {
        arguments.truncate(ARGUMENTS);
        arguments.push("…".to_owned());
    }
    format!("({})", arguments.join(", "))
}
