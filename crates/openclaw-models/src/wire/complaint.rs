//! What a service says when it does not answer, and what can be done about it.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use openclaw_content::shown_line;
use openclaw_secrets::Redactor;
use serde_json::Value;

use crate::error::ModelError;
use crate::wire::limits::SHOWN;
use crate::wire::words::{
    BUSY, DOWN, KEY, NO_MODEL, NO_MONEY, NO_MONEY_KINDS, PERMISSION, TOO_LONG, for_people,
};

/// Who is complained about, in the words of an error.
#[derive(Clone, Copy)]
pub(crate) struct Parties<'a> {
    /// The provider.
    pub(crate) provider: &'a str,
    /// The model, as `provider/model`.
    pub(crate) model: &'a str,
    /// What to do when there is no such model.
    pub(crate) alternatives: &'a str,
    /// What hides secrets.
    pub(crate) redactor: &'a Redactor,
}

impl Parties<'_> {
    /// Words of a service, made fit for an error.
    pub(crate) fn shown(&self, text: &str) -> String {
        // Hidden before it is cut: half a secret is not known any longer.
        shown_line(&self.redactor.redact(text), SHOWN)
    }
}

/// What a request can do without, when the service does not take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dispensable {
    /// `stream_options`, which ask for what an answer costs.
    StreamOptions,
    /// What the model thought, which another key than this one may have sealed.
    Reasoning,
}

/// What a service says when it does not answer.
#[derive(Debug, Default)]
pub(crate) struct Complaint {
    /// The status of HTTP, or a number that means the same.
    status: Option<u16>,
    /// Its words for programs, in lower case.
    kinds: String,
    /// Its words for people.
    message: String,
    retry_after: Option<Duration>,
}

impl Complaint {
    /// Takes what was answered instead of an answer.
    pub(crate) fn of_response(status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        let mut complaint = match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::of_value(&value).unwrap_or_default(),
            Err(_) => Self::of_text(&String::from_utf8_lossy(body)),
        };
        complaint.status = Some(status);
        let said = retry_after(headers, SystemTime::now());
        complaint.retry_after = said.or(complaint.retry_after);
        complaint
    }

    fn of_text(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}').trim();
        Self {
            // A page for a browser says nothing that its status does not.
            message: if text.starts_with('<') { "" } else { text }.to_owned(),
            ..Self::default()
        }
    }

    /// Takes the object of an error, in any of the ways in which services write it.
    pub(crate) fn of_value(value: &Value) -> Option<Self> {
        let value = match value {
            Value::Array(items) => items.first()?,
            other => other,
        };
        let error = match value.get("error") {
            Some(Value::Null) | None => value,
            Some(error) => error,
        };
        let text = |name: &str| error.get(name).and_then(Value::as_str);
        let message = match error {
            Value::String(message) => Some(message.clone()),
            error => ["message", "detail"]
                .iter()
                .find_map(|name| for_people(error.get(*name)?))
                .or_else(|| for_people(value.get("message")?)),
        };
        let mut message = message.unwrap_or_default();
        if let Some(raw) = error.pointer("/metadata/raw").and_then(Value::as_str) {
            message = format!("{message}: {raw}");
        }
        let mut kinds = String::new();
        for name in ["type", "code", "status"] {
            if let Some(kind) = text(name) {
                kinds.push_str(kind);
                kinds.push(' ');
            }
        }
        let details = error.get("details").and_then(Value::as_array);
        let details = || details.into_iter().flatten();
        for reason in details().filter_map(|detail| detail.get("reason")?.as_str()) {
            kinds.push_str(reason);
            kinds.push(' ');
        }
        let delay = details().find_map(|detail| detail.get("retryDelay")?.as_str());
        let number = ["code", "status"]
            .iter()
            .find_map(|name| error.get(*name)?.as_u64());
        if message.is_empty() && kinds.is_empty() && number.is_none() {
            return None;
        }
        Some(Self {
            status: number
                .and_then(|number| u16::try_from(number).ok())
                .filter(|number| (400..600).contains(number)),
            kinds: kinds.to_ascii_lowercase(),
            message,
            retry_after: delay.and_then(|delay| seconds(delay.trim_end_matches('s'))),
        })
    }

    /// A complaint that is nothing but a text.
    pub(crate) fn said(message: &str) -> Self {
        Self {
            message: message.to_owned(),
            ..Self::default()
        }
    }

    /// A complaint in our words, with the status of HTTP that means the same.
    pub(crate) fn of_status(status: u16, message: String) -> Self {
        Self {
            status: Some(status),
            message,
            ..Self::default()
        }
    }

    /// What the request should be made without.
    pub(crate) fn about(&self) -> Option<Dispensable> {
        if !matches!(self.status, Some(400 | 422)) {
            return None;
        }
        let message = self.message.to_ascii_lowercase();
        let names = |word: &str| self.kinds.contains(word) || message.contains(word);
        if names("stream_options") {
            return Some(Dispensable::StreamOptions);
        }
        let is_sealed = names("encrypted_content") || names("encrypted content");
        is_sealed.then_some(Dispensable::Reasoning)
    }

    /// What can be done about it.
    pub(crate) fn into_error(self, parties: Parties<'_>) -> ModelError {
        let words = format!("{} {}", self.kinds, self.message.to_ascii_lowercase());
        let says = |some: &[&str]| some.iter().any(|word| words.contains(word));
        let is_kind = |some: &[&str]| some.iter().any(|word| self.kinds.contains(word));
        let reason = self.reason(parties);
        let (provider, model) = (parties.provider.to_owned(), parties.model.to_owned());
        let retry_after = self.retry_after;
        let is_about_model = says(&NO_MODEL)
            || (words.contains("model")
                && (words.contains("not found") || words.contains("does not exist")));
        match self.status {
            Some(413) => ModelError::TooLong { model, reason },
            Some(400 | 422 | 500) | None if says(&TOO_LONG) => {
                ModelError::TooLong { model, reason }
            }
            Some(429) if retry_after.is_none() && is_kind(&NO_MONEY_KINDS) => {
                ModelError::Refused { model, reason }
            }
            Some(400..=428) | None if says(&NO_MONEY) => ModelError::Refused { model, reason },
            Some(401) => ModelError::KeyRefused { provider, reason },
            Some(403) if says(&PERMISSION) => ModelError::KeyRefused { provider, reason },
            Some(400 | 403) | None if says(&KEY) => ModelError::KeyRefused { provider, reason },
            Some(404) => unknown(parties, &reason),
            Some(400 | 422) | None if is_about_model => unknown(parties, &reason),
            Some(408 | 409 | 425 | 429) => ModelError::Busy {
                model,
                reason,
                retry_after,
            },
            None if says(&BUSY) => ModelError::Busy {
                model,
                reason,
                retry_after,
            },
            Some(500..) => ModelError::Unavailable {
                model,
                reason,
                retry_after,
            },
            None if is_kind(&DOWN) || self.kinds.is_empty() => ModelError::Unavailable {
                model,
                reason,
                retry_after,
            },
            Some(_) | None => ModelError::Refused { model, reason },
        }
    }

    fn reason(&self, parties: Parties<'_>) -> String {
        let message = parties.shown(&self.message);
        match (self.status, message.is_empty()) {
            (_, false) => message,
            (Some(status), true) => match http::StatusCode::from_u16(status) {
                Ok(status) => format!("HTTP status {status}"),
                Err(_) => format!("HTTP status {status}"),
            },
            (None, true) if self.kinds.is_empty() => "it does not say why".to_owned(),
            (None, true) => parties.shown(&self.kinds),
        }
    }
}

fn unknown(parties: Parties<'_>, reason: &str) -> ModelError {
    let model = parties.model;
    ModelError::UnknownModel {
        message: format!("{} does not know {model}: {reason}", parties.provider),
        hint: parties.alternatives.to_owned(),
    }
}

/// When a service says to come back.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds = header("retry-after-ms").and_then(seconds);
    if let Some(milliseconds) = milliseconds {
        return Some(milliseconds / 1000);
    }
    let text = header("retry-after")?;
    seconds(text).or_else(|| {
        let date = httpdate::parse_http_date(text).ok()?;
        // A moment that has passed is now.
        Some(date.duration_since(now).unwrap_or_default())
    })
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
