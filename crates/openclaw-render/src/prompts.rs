//! Prompts that servers offer.

use openclaw_engine::{PromptReport, PromptSummary};

use crate::{Page, Tone, block, name};

/// Prompts by server. `server` is the one that was asked for.
pub fn prompts(prompts: &[PromptSummary], server: Option<&str>, page: Page) -> String {
    if prompts.is_empty() {
        return match server {
            Some(server) => format!("{} offers no prompts\n", name(server)),
            None => "no server offers prompts\n".to_owned(),
        };
    }
    let mut servers: Vec<&str> = prompts
        .iter()
        .map(|prompt| prompt.server.as_str())
        .collect();
    servers.sort_unstable();
    servers.dedup();
    let groups: Vec<String> = servers
        .into_iter()
        .map(|server| {
            let lines: String = prompts
                .iter()
                .filter(|prompt| prompt.server == server)
                .map(|prompt| entry(prompt, page))
                .collect();
            format!("{}\n{lines}", page.paint(Tone::Strong, &name(server)))
        })
        .collect();
    groups.join("\n")
}

fn entry(prompt: &PromptSummary, page: Page) -> String {
    let arguments: Vec<String> = prompt
        .arguments
        .iter()
        .map(|argument| {
            let mark = if argument.required { "" } else { "?" };
            format!("{}{mark}", name(&argument.name))
        })
        .collect();
    let called = name(&prompt.name);
    let signature = format!("({})", arguments.join(", "));
    let mut text = format!("  {called}{}\n", page.line(&signature, 2 + called.len()));
    let description = prompt.description.as_ref().or(prompt.title.as_ref());
    if let Some(description) = description {
        let line = page.line(description, 6);
        text.push_str(&format!("      {}\n", page.paint(Tone::Quiet, &line)));
    }
    text
}

/// A prompt that was filled in: who says what.
pub fn prompt(report: &PromptReport, page: Page) -> String {
    if report.messages.is_empty() {
        return "(the prompt has no messages)\n".to_owned();
    }
    let messages: Vec<String> = report
        .messages
        .iter()
        .map(|message| {
            let role = format!("{}:", name(&message.role));
            let role = page.paint(Tone::Strong, &role);
            // Some servers send a list where one part is meant.
            let parts: String = match &message.content {
                serde_json::Value::Array(parts) => parts.iter().map(block).collect(),
                part => block(part),
            };
            format!("{role}\n{parts}")
        })
        .collect();
    messages.join("\n")
}
