//! A login that succeeded.

use std::time::SystemTime;

use openclaw_engine::LoginReport;

use crate::render::{Page, Tone, expiry, name};

/// What was granted, in a few lines.
pub(crate) fn login(report: &LoginReport, now: SystemTime, page: Page) -> String {
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
