//! Everything on one screen.

use openclaw_engine::{AgentReport, Credentials, Overview};

use crate::render::{Page, Tone, count, cut, name, padded, status_words};

/// Everything on one screen. `config` is where the configuration is.
pub(crate) fn overview(overview: &Overview, config: &str, page: Page) -> String {
    let gateway = &overview.gateway;
    let gateway = if gateway.running {
        let mut words = vec![page.paint(Tone::Good, "running")];
        words.extend(
            gateway
                .address
                .as_deref()
                .map(|address| format!("at {}", name(address))),
        );
        words.extend(gateway.pid.map(|pid| format!("(PID {pid})")));
        words.join(" ")
    } else {
        "not running".to_owned()
    };
    let rows = [
        ("Version", name(&overview.version)),
        ("Config", page.line(config, 14)),
        ("Gateway", gateway),
        ("Sessions", overview.sessions.to_string()),
    ];
    let mut text = page.paint(Tone::Strong, "OpenClaw");
    text.push('\n');
    for (label, value) in rows {
        text.push_str(&format!("  {}{value}\n", padded(&format!("{label}:"), 12)));
    }
    if let Some(error) = &overview.config_error {
        let label = page.paint(Tone::Bad, "Config error:");
        text.push_str(&format!("  {label} {}\n", page.line(error, 16)));
    }
    text.push_str(&servers(overview, page));
    text.push_str(&agents(&overview.agents, page));
    text
}

fn servers(overview: &Overview, page: Page) -> String {
    let title = format!("\n{}\n", page.paint(Tone::Strong, "MCP servers"));
    if overview.servers.is_empty() {
        return format!("{title}  none; add one with `openclaw mcp connect`\n");
    }
    let lines: String = overview
        .servers
        .iter()
        .map(|server| {
            let (words, tone) = status_words(server);
            let mut line = format!(
                "  {} {}",
                padded(&cut(&name(&server.name), 20), 20),
                page.paint(tone, &padded(&words, 20))
            );
            match &server.error {
                Some(error) => line.push_str(&page.line(error, 44)),
                None => line.push_str(&count(server.tools, "tool")),
            }
            format!("{}\n", line.trim_end())
        })
        .collect();
    format!("{title}{lines}")
}

fn agents(agents: &[AgentReport], page: Page) -> String {
    let lines: String = agents
        .iter()
        .map(|agent| {
            let model = agent.model.as_deref().map_or("no model".to_owned(), name);
            let key = match agent.credentials {
                Credentials::Ok => "key found",
                Credentials::Missing => "no key",
                Credentials::Builtin => "built in",
            };
            let servers = count(agent.servers.len(), "server");
            let called = padded(&name(&agent.id), 20);
            format!("  {called} {model} ({key}), {servers}\n")
        })
        .collect();
    if lines.is_empty() {
        return lines;
    }
    format!("\n{}\n{lines}", page.paint(Tone::Strong, "Agents"))
}
