//! Errors that a server answers with.

use std::fmt;

use bytes::Bytes;
use serde_json::Value;

use super::{Incoming, RawJson, read_messages};
use crate::text::shown;

/// How much of a server's message an error keeps.
const KEPT: usize = 64 * 1024;
/// How much of it is shown.
const SHOWN: usize = 2_000;

/// A server's answer that it did not do what it was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// What kind of error it is; 0 where the server gave none.
    pub code: i64,
    /// The server's words.
    pub message: String,
    /// What it added.
    pub data: Option<Value>,
    /// The HTTP status that it came with, if that was not one of success.
    pub status: Option<u16>,
}

impl RpcError {
    /// The server does not know the method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The headers of a request say something else than its body.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The server needs something of us that we did not offer.
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// The server does not speak the revision that it was addressed in.
    pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
    /// A person has to visit an address first.
    pub const VISIT_FIRST: i64 = -32042;

    /// Whether it says that nothing was done, and not just that something went wrong.
    pub(crate) fn is_refusal(&self) -> bool {
        let by_status = self
            .status
            .is_some_and(|status| (400..500).contains(&status));
        by_status
            || matches!(
                self.code,
                -32700 | -32602..=-32600 | -32002 | -32022..=-32020 | Self::VISIT_FIRST
            )
    }

    /// Whether it can be the answer to a request that the server could not read.
    pub(crate) fn is_about_reading(&self) -> bool {
        matches!(self.code, -32700 | -32600)
    }

    /// The error in the body of an HTTP answer with this status, where it is one.
    pub(crate) fn of_body(body: &Bytes, status: u16) -> Option<Self> {
        let mut found = None;
        read_messages(body, |message| {
            if let Ok(Incoming::Reply {
                outcome: Err(error),
                ..
            }) = message
            {
                found = Some(Self {
                    status: Some(status),
                    ..error
                });
            }
        });
        found
    }

    /// Reads an error as far as it can be read: whatever a server sends here is an error.
    pub(crate) fn read(raw: &RawJson) -> Self {
        let Ok(Value::Object(mut fields)) = raw.value() else {
            let start = &raw.text().as_bytes()[..raw.text().len().min(KEPT)];
            return Self {
                code: 0,
                message: String::from_utf8_lossy(start).into_owned(),
                data: None,
                status: None,
            };
        };
        let code = match fields.get("code") {
            Some(Value::Number(number)) => number.as_i64(),
            Some(Value::String(text)) => text.parse().ok(),
            _ => None,
        };
        let mut message = match fields.remove("message") {
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
            None => String::new(),
        };
        message.truncate(message.floor_char_boundary(KEPT));
        Self {
            code: code.unwrap_or_default(),
            message,
            data: fields.remove("data"),
            status: None,
        }
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = shown(&self.message, SHOWN);
        if message.is_empty() {
            formatter.write_str("no reason given")?;
        } else {
            formatter.write_str(&message)?;
        }
        write!(formatter, " (code {})", self.code)
    }
}

impl std::error::Error for RpcError {}
