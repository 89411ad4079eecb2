//! One server in detail.

use std::time::SystemTime;

use openclaw_engine::{ServerDetails, TransportKind};

use crate::servers::{auth_words, target};
use crate::{Page, Tone, expiry, name, padded, status_words};

/// How many lines of standard error are shown.
const LINES: usize = 10;

/// A page about one server.
pub fn details(details: &ServerDetails, now: SystemTime, page: Page) -> String {
    let report = &details.report;
    let mut facts = Facts { page, rows: vec![] };
    let (words, tone) = status_words(report);
    facts.add("Status", Some(page.paint(tone, &words)));
    facts.foreign("Error", report.error.as_deref());
    facts.foreign("Target", Some(&target(report)));
    facts.foreign("Program", details.resolved_command.as_deref());
    facts.add("Transport", report.transport.map(transport_words));
    facts.foreign("Protocol", report.protocol_version.as_deref());
    facts.foreign("Server", details.server_info.as_deref());
    let expiry = details
        .token_expires_at
        .as_deref()
        .and_then(|moment| expiry::until(moment, now));
    facts.add("Auth", Some(auth_words(report.auth, expiry.as_deref())));
    let ends = details.token_expires_at.as_deref();
    let ends = ends.map(|moment| match details.token_renewable {
        Some(true) => format!("{moment}, renewed by itself"),
        Some(false) | None => moment.to_owned(),
    });
    facts.foreign("Token ends", ends.as_deref());
    facts.foreign("Issuer", details.issuer.as_deref());
    let scopes = details.scopes.as_ref().map(|scopes| scopes.join(" "));
    facts.foreign("Scopes", scopes.as_deref());
    facts.foreign("Session", details.session_id.as_deref());
    facts.foreign("Heartbeat", details.last_heartbeat.as_deref());
    facts.add("Tools", Some(report.tools.to_string()));
    facts.add("Resources", Some(report.resources.to_string()));
    facts.add("Prompts", Some(report.prompts.to_string()));
    facts.add("Restarts", Some(report.restarts.to_string()));
    let passed_over = Some(details.passed_over).filter(|number| *number > 0);
    facts.add("Passed over", passed_over.map(|number| number.to_string()));
    let title = page.paint(Tone::Strong, &name(&report.name));
    format!("{title}\n{}{}", facts.text(), stderr(details, page))
}

fn transport_words(transport: TransportKind) -> String {
    match transport {
        TransportKind::Stdio => "stdio",
        TransportKind::Http => "Streamable HTTP",
        TransportKind::Sse => "HTTP+SSE",
    }
    .to_owned()
}

fn stderr(details: &ServerDetails, page: Page) -> String {
    if details.stderr.is_empty() {
        return String::new();
    }
    let first = details.stderr.len().saturating_sub(LINES);
    let lines: String = details
        .stderr
        .iter()
        .skip(first)
        .map(|line| format!("    {}\n", page.line(line, 4)))
        .collect();
    format!("  Last lines of its standard error:\n{lines}")
}

/// Names with their values, one each line.
struct Facts {
    page: Page,
    rows: Vec<(&'static str, String)>,
}

impl Facts {
    /// The columns of a name with its colon.
    const COLUMN: usize = 13;

    fn add(&mut self, name: &'static str, value: Option<String>) {
        self.rows.extend(value.map(|value| (name, value)));
    }

    /// Adds what somebody else wrote.
    fn foreign(&mut self, name: &'static str, value: Option<&str>) {
        let value = value.map(|value| self.page.line(value, Self::COLUMN + 2));
        self.add(name, value);
    }

    fn text(self) -> String {
        self.rows
            .into_iter()
            .map(|(name, value)| {
                let name = padded(&format!("{name}:"), Self::COLUMN);
                format!("  {name}{value}\n")
            })
            .collect()
    }
}
