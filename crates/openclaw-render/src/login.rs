//! A login that succeeded, and one that was given up.

use std::time::SystemTime;

use openclaw_content::shown_line;
use openclaw_engine::{LoginReport, LogoutReport};

use crate::{Page, Tone, expiry, name};

/// How much of a reason is shown.
const REASON: usize = 1_000;

/// What was granted, in a few lines.
pub fn login(report: &LoginReport, now: SystemTime, page: Page) -> String {
    let title = page.paint(
        Tone::Good,
        &format!("Logged in to {}.", name(&report.server)),
    );
    let mut text = format!("{title}\n");
    let mut fact = |label: &str, value: &str| {
        text += &format!("  {label:<8}{}\n", page.line(value, 10));
    };
    fact("Issuer", &report.issuer);
    if !report.scopes.is_empty() {
        fact("Scopes", &report.scopes.join(" "));
    }
    let ends = report
        .token_expires_at
        .as_deref()
        .and_then(|moment| expiry::until(moment, now));
    let renewed = if report.renewable {
        "renewed by itself"
    } else {
        "then you have to log in again"
    };
    match ends {
        Some(ends) => fact("Token", &format!("{ends}, {renewed}")),
        None => fact("Token", "does not say when it expires"),
    }
    text
}

/// What became of the login to a server, in a line.
pub fn logged_out(report: &LogoutReport) -> String {
    let server = name(&report.server);
    if !report.was_logged_in {
        return format!("{server}: nobody was logged in\n");
    }
    match (report.revoked, &report.reason) {
        (Some(true), _) => {
            format!("{server}: logged out, also at the authorization server\n")
        }
        (Some(false), reason) => {
            let reason = shown_line(reason.as_deref().unwrap_or("it is not known why"), REASON);
            format!(
                "{server}: logged out here; the login was not withdrawn at the authorization \
                 server: {reason}\n"
            )
        }
        (None, _) => format!(
            "{server}: logged out here; the authorization server offers no way to withdraw a \
             login, so it ends by itself\n"
        ),
    }
}
