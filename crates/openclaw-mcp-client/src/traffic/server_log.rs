//! What a server wants logged: it goes to the log, never to a model (FR-4).

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use crate::wire::RawJson;

/// How many lines of a server are logged at once before the rest is only counted.
const BURST: u32 = 50;
/// How long it takes until one more may be logged.
const REFILL: Duration = Duration::from_millis(100);
/// How much of a line is logged.
const SHOWN: usize = 2_000;

/// Logs what a server sends, at a rate that a log can bear.
#[derive(Debug)]
pub(crate) struct ServerLog {
    allowance: Mutex<Allowance>,
}

#[derive(Debug)]
struct Allowance {
    left: u32,
    refilled: Instant,
    suppressed: u64,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    level: Option<String>,
    #[serde(default)]
    logger: Option<String>,
    #[serde(default)]
    data: Value,
}

impl Default for ServerLog {
    fn default() -> Self {
        Self {
            allowance: Mutex::new(Allowance {
                left: BURST,
                refilled: Instant::now(),
                suppressed: 0,
            }),
        }
    }
}

impl ServerLog {
    /// Logs a `notifications/message`.
    pub(crate) fn write(&self, server: &str, params: Option<&RawJson>) {
        let Some(message) = params.and_then(|params| params.read::<Message>().ok()) else {
            return;
        };
        if !self.is_allowed(server) {
            return;
        }
        let text = match &message.data {
            Value::String(text) => printable(text),
            other => printable(&other.to_string()),
        };
        let logger = printable(message.logger.as_deref().unwrap_or_default());
        match message.level.as_deref() {
            Some("emergency" | "alert" | "critical" | "error") => {
                tracing::error!(server, logger, "server says: {text}");
            }
            Some("warning") => tracing::warn!(server, logger, "server says: {text}"),
            Some("notice" | "info") => tracing::info!(server, logger, "server says: {text}"),
            _ => tracing::debug!(server, logger, "server says: {text}"),
        }
    }

    /// Logs that something was passed over.
    pub(crate) fn passed_over(&self, server: &str, what: &str, why: &dyn std::fmt::Display) {
        if self.is_allowed(server) {
            let what = printable(what);
            tracing::warn!(server, "passed over what the server sent, {why}: {what}");
        }
    }

    fn is_allowed(&self, server: &str) -> bool {
        let mut allowance = self
            .allowance
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let passed = allowance.refilled.elapsed().as_millis() / REFILL.as_millis();
        if let Ok(gained @ 1..) = u32::try_from(passed) {
            allowance.left = allowance.left.saturating_add(gained).min(BURST);
            allowance.refilled = Instant::now();
        }
        if allowance.left == 0 {
            allowance.suppressed += 1;
            return false;
        }
        allowance.left -= 1;
        let suppressed = std::mem::take(&mut allowance.suppressed);
        drop(allowance);
        if suppressed > 0 {
            tracing::warn!(
                server,
                suppressed,
                "the server logs too fast, lines left out"
            );
        }
        true
    }
}

/// The beginning of a foreign text, on one line and without control characters.
fn printable(text: &str) -> String {
    let clean = |character: char| {
        if character.is_control() {
            ' '
        } else {
            character
        }
    };
    text.chars().take(SHOWN).map(clean).collect()
}
