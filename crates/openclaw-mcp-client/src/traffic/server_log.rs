//! What a server wants logged: it goes to the log, never to a model (FR-4).

use serde::Deserialize;
use serde_json::value::RawValue;

use super::allowance::LogAllowance;
use crate::text::shown;
use crate::wire::RawJson;

/// How much of a line is logged.
const SHOWN: usize = 2_000;

/// Logs what a server sends, at a rate that a log can bear.
#[derive(Debug, Default)]
pub(crate) struct ServerLog {
    allowance: LogAllowance,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    level: Option<String>,
    #[serde(default)]
    logger: Option<String>,
    #[serde(default)]
    data: Option<Box<RawValue>>,
}

impl ServerLog {
    /// Logs a `notifications/message`.
    pub(crate) fn write(&self, server: &str, params: Option<&RawJson>) {
        let Some(message) = params.and_then(|params| params.read::<Message>().ok()) else {
            return;
        };
        if !self.allowance.take(server) {
            return;
        }
        let data = message.data.as_deref().map_or("null", RawValue::get);
        // A text without its quotes, anything else as it came.
        let text = match serde_json::from_str::<String>(data) {
            Ok(text) => shown(&text, SHOWN),
            Err(_) => shown(data, SHOWN),
        };
        let logger = shown(message.logger.as_deref().unwrap_or_default(), SHOWN);
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
        if self.allowance.take(server) {
            let what = shown(what, SHOWN);
            tracing::warn!(server, "passed over what the server sent, {why}: {what}");
        }
    }
}
