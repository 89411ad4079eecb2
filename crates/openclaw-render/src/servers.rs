//! Lists of servers.

use std::collections::BTreeMap;
use std::time::SystemTime;

use openclaw_engine::{AuthKind, ServerReport, ShownState, TransportKind};
use unicode_width::UnicodeWidthStr;

use crate::{Page, Tone, expiry, name, padded, word};

/// The columns of a name that stands beside its target.
const NARROWEST: usize = 14;
const WIDEST: usize = 30;

/// All servers. `expiries` says when logins end, by the name of the server.
pub fn servers(
    servers: &[ServerReport],
    expiries: &BTreeMap<String, String>,
    now: SystemTime,
    page: Page,
) -> String {
    if servers.is_empty() {
        let command = page.speech.command();
        return format!(
            "no MCP servers are configured; add one with `{command} connect URL` or `{command} \
             connect -- COMMAND`\n"
        );
    }
    let column = servers
        .iter()
        .map(|server| name(&server.name).width())
        .filter(|width| *width <= WIDEST)
        .max()
        .unwrap_or_default()
        .max(NARROWEST)
        + 4;
    let entries: Vec<String> = servers
        .iter()
        .map(|server| {
            let expiry = expiries
                .get(&server.name)
                .and_then(|moment| expiry::until(moment, now));
            entry(server, expiry.as_deref(), column, page)
        })
        .collect();
    let title = format!("MCP Servers ({} configured)", servers.len());
    let title = page.paint(Tone::Strong, &title);
    let rule = page.rule();
    format!("{title}\n{rule}{}{rule}", entries.join("\n"))
}

fn entry(server: &ServerReport, expiry: Option<&str>, column: usize, page: Page) -> String {
    let margin = " ".repeat(column);
    let shown = name(&server.name);
    let mut text = if shown.width() + 4 <= column {
        let filled = padded(&shown, column - 2);
        format!("  {}", page.paint(Tone::Strong, &filled))
    } else {
        format!("  {}\n{margin}", page.paint(Tone::Strong, &shown))
    };
    text.push_str(&page.line(&target(server), column));
    text.push('\n');
    let (words, tone) = status_words(server);
    let mut facts = vec![
        format!("Status: {}", page.paint(tone, &words)),
        format!("Auth: {}", auth_words(server.auth, expiry)),
        format!("Tools: {}", server.tools),
    ];
    for (number, noun) in [(server.resources, "Resources"), (server.prompts, "Prompts")] {
        if number > 0 {
            facts.push(format!("{noun}: {number}"));
        }
    }
    text.push_str(&format!("{margin}{}\n", facts.join(" | ")));
    if let Some(error) = &server.error {
        let label = match server.state {
            ShownState::Stopped | ShownState::Disabled | ShownState::Ready => "Note",
            _ => "Error",
        };
        let line = page.line(error, column + label.len() + 2);
        text.push_str(&format!("{margin}{label}: {line}\n"));
    }
    // The reason usually says so itself.
    let is_told = |error: &String| error.contains("openclaw mcp auth");
    if server.state == ShownState::NeedsAuth && !server.error.as_ref().is_some_and(is_told) {
        let server = word(&server.name);
        let command = page.speech.command();
        text.push_str(&format!("{margin}Log in: {command} auth {server}\n"));
    }
    text
}

/// What a server is reached at; programs are told apart from addresses.
pub(crate) fn target(server: &ServerReport) -> String {
    match server.transport {
        Some(TransportKind::Stdio) => format!("stdio://{}", server.target),
        None if server.target.is_empty() => "(no usable definition)".to_owned(),
        Some(TransportKind::Http | TransportKind::Sse) | None => server.target.clone(),
    }
}

/// How a server is, in the words that people know.
pub fn status_words(server: &ServerReport) -> (String, Tone) {
    let is_program = server.transport == Some(TransportKind::Stdio);
    let (words, tone) = match (server.state, server.pid) {
        (ShownState::Ready, Some(pid)) => {
            return (format!("Running (PID {pid})"), Tone::Good);
        }
        (ShownState::Ready, None) if is_program => ("Running", Tone::Good),
        (state, _) => state_words(state),
    };
    (words.to_owned(), tone)
}

/// A state, in the words that people know, where nothing else is known of the server.
pub fn state_words(state: ShownState) -> (&'static str, Tone) {
    match state {
        ShownState::Ready => ("Connected", Tone::Good),
        ShownState::Connecting => ("Connecting", Tone::Attention),
        ShownState::Restarting => ("Restarting", Tone::Attention),
        ShownState::NeedsAuth => ("Needs login", Tone::Attention),
        ShownState::Failed => ("Failed", Tone::Bad),
        ShownState::Stopped => ("Stopped", Tone::Quiet),
        ShownState::Disabled => ("Disabled", Tone::Quiet),
    }
}

/// How we prove who we are, in the words that people know.
pub(crate) fn auth_words(auth: AuthKind, expiry: Option<&str>) -> String {
    let words = match auth {
        AuthKind::None => "None",
        AuthKind::ApiKey => "API Key",
        AuthKind::Oauth => "OAuth",
    };
    match expiry {
        Some(expiry) => format!("{words} ({expiry})"),
        None => words.to_owned(),
    }
}
