//! Errors that a server answers with.

use std::fmt;

use bytes::Bytes;
use serde_json::Value;

use super::{Incoming, RawJson, read_messages};

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
}

impl RpcError {
    /// The server does not know the method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The server does not speak the revision that it was addressed in.
    pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;

    /// The error in the body of an HTTP answer, where it is one.
    pub(crate) fn of_body(body: &Bytes) -> Option<Self> {
        let mut found = None;
        read_messages(body, |message| {
            if let Ok(Incoming::Reply {
                outcome: Err(error),
                ..
            }) = message
            {
                found = Some(error);
            }
        });
        found
    }

    /// Reads an error as far as it can be read: whatever a server sends here is an error.
    pub(crate) fn read(raw: &RawJson) -> Self {
        let Ok(Value::Object(mut fields)) = raw.value() else {
            let start = &raw.bytes()[..raw.bytes().len().min(KEPT)];
            return Self {
                code: 0,
                message: String::from_utf8_lossy(start).into_owned(),
                data: None,
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
        }
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.message.trim();
        let message = if message.is_empty() {
            "no reason given"
        } else {
            message
        };
        for character in message.chars().take(SHOWN) {
            let shown = if character.is_control() {
                ' '
            } else {
                character
            };
            fmt::Write::write_char(formatter, shown)?;
        }
        write!(formatter, " (code {})", self.code)
    }
}

impl std::error::Error for RpcError {}
