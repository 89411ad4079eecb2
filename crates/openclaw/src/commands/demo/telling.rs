//! The steps of the tour as text.

use std::path::Path;

use openclaw_content::{shown_line, shown_text};
use openclaw_engine::ReplyReport;
use serde_json::Value as Json;

use crate::commands::demo::tour::{Facts, Tool};
use crate::render::{Page, Tone, name};

/// How much of a line is shown.
const SHOWN: usize = 200;

pub(super) fn introduction() -> &'static str {
    "A tour of OpenClaw: no configuration, no key, no network.\n"
}

pub(super) fn configured(config: &str) -> String {
    step(1, "A configuration with one MCP server", config)
}

pub(super) fn started(pid: u32, protocol: Option<&str>) -> String {
    let protocol = protocol.map_or_else(String::new, |version| {
        format!(", MCP {}", shown_line(version, SHOWN))
    });
    let text = format!("demo: running (PID {pid}) over stdio{protocol}");
    step(2, "The server is started", &text)
}

pub(super) fn listed(tools: &[Tool]) -> String {
    let column = tools.iter().map(|tool| name(&tool.name).len()).max();
    let column = column.unwrap_or_default();
    let lines: Vec<String> = tools
        .iter()
        .map(|tool| {
            let called = name(&tool.name);
            let description = shown_line(&tool.description, 100);
            format!("{called:column$}  {description}")
        })
        .collect();
    step(3, "Its tools, as a model sees them", &lines.join("\n"))
}

pub(super) fn asked(message: &str) -> String {
    step(4, "A message for the agent", &format!("> {message}"))
}

pub(super) fn called(reply: &ReplyReport, arguments: &Json) -> String {
    let arguments = shown_line(&arguments.to_string(), SHOWN);
    let lines: Vec<String> = reply
        .tool_calls
        .iter()
        .map(|call| {
            let called = name(&call.name);
            format!("· {called} {arguments} … {} ms", call.duration_ms)
        })
        .collect();
    let title = format!("The model {} chooses a tool", name(&reply.model));
    step(5, &title, &lines.join("\n"))
}

pub(super) fn framed(framed: &str) -> String {
    let title = "What the model reads: the result in a frame that says whose it is";
    step(6, title, framed)
}

pub(super) fn replied(reply: &str) -> String {
    step(7, "The reply", reply)
}

/// What is said once everything is gone.
pub(super) fn closing(facts: &Facts, directory: &Path, page: Page) -> String {
    let text = format!(
        "PID {} has ended\n{} is deleted",
        facts.pid,
        directory.display()
    );
    let last = step(8, "The server is stopped, and nothing is left", &text);
    let next = page.paint(Tone::Strong, "Next");
    format!(
        "{last}\n{next}\n  \
         openclaw mcp connect -- npx -y @modelcontextprotocol/server-everything\n  \
         openclaw agent -m \"echo hello\"\n  \
         openclaw doctor\n"
    )
}

/// A step. Servers and models wrote parts of its text.
fn step(number: u32, title: &str, text: &str) -> String {
    let mut step = format!("\n{number}. {title}\n");
    for line in shown_text(text).trim_end().lines() {
        step.push_str(format!("   {line}").trim_end());
        step.push('\n');
    }
    step
}
