//! Everything on one screen.

use openclaw_engine::{AgentReport, Credentials, Overview, ShownState};

use crate::{Page, Tone, count, cut, name, padded, status_words};

/// Everything on one screen. `config` is where the configuration is.
pub fn overview(overview: &Overview, config: &str, page: Page) -> String {
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
    let sessions = match &overview.sessions_error {
        Some(error) => page.paint(Tone::Bad, &page.line(error, 14)),
        None => overview.sessions.to_string(),
    };
    let rows = [
        ("Version", name(&overview.version)),
        ("Config", page.line(config, 14)),
        ("Gateway", gateway),
        ("Sessions", sessions),
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
    for place in &overview.awaits_restart {
        let label = page.paint(Tone::Bad, "Restart needed:");
        text.push_str(&format!(
            "  {label} `{}` has changed\n",
            page.line(place, 16)
        ));
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
            // Nothing is started for this page, so that nothing is known of what rests.
            let is_resting = server.state == ShownState::Stopped && server.error.is_none();
            let (words, tone) = if is_resting {
                ("Not started".to_owned(), Tone::Quiet)
            } else {
                status_words(server)
            };
            let mut line = format!(
                "  {} {}",
                padded(&cut(&name(&server.name), 20), 20),
                page.paint(tone, &padded(&words, 20))
            );
            match &server.error {
                Some(error) => line.push_str(&page.line(error, 44)),
                None if is_resting => {}
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
            let (key, tone) = match agent.credentials {
                Credentials::Ok => ("key found", Tone::Good),
                Credentials::Missing => ("no key: `openclaw doctor` says more", Tone::Bad),
                Credentials::Builtin => ("built in", Tone::Quiet),
            };
            let key = page.paint(tone, key);
            let called = padded(&cut(&name(&agent.id), 20), 20);
            let servers = match agent.servers.as_slice() {
                [] => "no servers".to_owned(),
                servers => {
                    let names: Vec<String> = servers.iter().map(|it| name(it)).collect();
                    page.line(&format!("servers: {}", names.join(", ")), 23)
                }
            };
            let margin = " ".repeat(23);
            format!("  {called} {model} ({key})\n{margin}{servers}\n")
        })
        .collect();
    if lines.is_empty() {
        return lines;
    }
    format!("\n{}\n{lines}", page.paint(Tone::Strong, "Agents"))
}
