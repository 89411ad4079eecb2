//! Why those who give tokens give none, in words of the protocol.

use bytes::Bytes;
use http::Response;
use http::header::DATE;
use reqsign_core::time::Timestamp;
use serde_json::Value as Json;

use super::asking::Asking;
use crate::error::SecretError;

/// How to set the clock.
const SET_CLOCK: &str = if cfg!(windows) {
    "set the clock of this machine, for example with `w32tm /resync`"
} else if cfg!(target_os = "macos") {
    "set the clock of this machine, for example with `sudo sntp -sS time.apple.com`"
} else {
    "set the clock of this machine, for example with `timedatectl set-ntp true`"
};

/// An answer that refuses: what was wrong with what we sent.
pub(super) struct Refusal {
    status: u16,
    /// The word for it, and a more precise one: that of OAuth (RFC 6749 §5.2), or the name of
    /// Google's status.
    words: Vec<String>,
    /// Whether it is about the times in what we signed.
    is_about_time: bool,
    /// By how many seconds our clock is ahead of theirs.
    ahead: Option<i64>,
}

impl Refusal {
    pub(super) fn new(answer: &Response<Bytes>) -> Self {
        let json: Json = serde_json::from_slice(answer.body()).unwrap_or_default();
        let error = &json["error"];
        let candidates = match error {
            Json::String(_) => [error, &json["error_subtype"]],
            _ => [&error["status"], &Json::Null],
        };
        let description = json["error_description"].as_str().unwrap_or_default();
        // "Invalid JWT: […] Check your iat and exp values in the JWT claim."
        let is_about_time = description.starts_with("Invalid JWT")
            && (description.contains("iat") || description.contains("exp "));
        let date = answer.headers().get(DATE);
        let date = date.and_then(|date| Timestamp::parse_rfc2822(date.to_str().ok()?).ok());
        Self {
            status: answer.status().as_u16(),
            words: candidates.into_iter().filter_map(word).collect(),
            is_about_time,
            ahead: date.map(|date| {
                Timestamp::now()
                    .as_second()
                    .saturating_sub(date.as_second())
            }),
        }
    }

    /// The words as they stand behind something, or the status if there are none.
    pub(super) fn shown(&self) -> String {
        if self.words.is_empty() {
            format!("status {}", self.status)
        } else {
            self.words.join(", ")
        }
    }

    /// What is said about it where credentials were not accepted.
    pub(super) fn error(&self, asking: &Asking<'_>) -> SecretError {
        if self.is_about_time {
            let reason = format!(
                "Google does not accept what {} signs ({}): the clock of this machine is wrong{}",
                asking.origin,
                self.shown(),
                self.ahead.map(difference).unwrap_or_default()
            );
            return SecretError::refused(reason).hint(SET_CLOCK);
        }
        let reason = format!(
            "Google does not accept {} ({})",
            asking.credentials(),
            self.shown()
        );
        SecretError::refused(reason).hint(asking.hint)
    }
}

/// By how much a clock differs, where that is worth to be said.
fn difference(ahead: i64) -> String {
    let minutes = ahead.unsigned_abs() / 60;
    match (minutes, ahead > 0) {
        (0, _) => String::new(),
        (_, true) => format!(", it is {minutes} minutes ahead"),
        (_, false) => format!(", it is {minutes} minutes behind"),
    }
}

/// A word of the protocol. Anything else might be somebody's secret.
fn word(value: &Json) -> Option<String> {
    let word = value.as_str()?;
    let allowed = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let is_word = (1..=60).contains(&word.len()) && word.bytes().all(allowed);
    is_word.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(body: &Json) -> Refusal {
        let answer = Response::builder().status(400);
        Refusal::new(&answer.body(body.to_string().into()).unwrap())
    }

    #[test]
    fn only_words_of_the_protocol_are_taken_over() {
        for (body, shown) in [
            (
                json!({ "error": "invalid_grant", "error_description": "hunter2" }),
                "invalid_grant",
            ),
            (
                json!({ "error": "invalid_grant", "error_subtype": "invalid_rapt" }),
                "invalid_grant, invalid_rapt",
            ),
            (
                json!({ "error": { "code": 403, "status": "PERMISSION_DENIED", "message": "hunter2" } }),
                "PERMISSION_DENIED",
            ),
            (json!({ "error": "the token hunter2 is bad" }), "status 400"),
            (json!({ "access_token": "hunter" }), "status 400"),
            (json!("hunter"), "status 400"),
            (json!([1]), "status 400"),
        ] {
            assert_eq!(refusal(&body).shown(), shown, "{body}");
        }
    }

    #[test]
    fn a_wrong_clock_is_told_from_a_wrong_signature() {
        let about_time = |description: &str| {
            let body = json!({ "error": "invalid_grant", "error_description": description });
            refusal(&body).is_about_time
        };
        assert!(about_time(
            "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable \
             timeframe. Check your iat and exp values in the JWT claim."
        ));
        assert!(!about_time("Invalid JWT Signature."));
        assert!(!about_time("Token has been expired or revoked."));
        assert!(!about_time(""));
    }

    #[test]
    fn it_is_said_by_how_much_a_clock_is_wrong() {
        let answer = Response::builder().status(400);
        let answer = answer.header(DATE, "Sat, 01 Jan 2000 00:00:00 GMT");
        let ahead = Refusal::new(&answer.body(Bytes::new()).unwrap()).ahead;
        assert!(ahead.unwrap() > 800_000_000, "{ahead:?}");
        assert_eq!(refusal(&json!({})).ahead, None);
        assert_eq!(difference(59), "");
        assert_eq!(difference(-600), ", it is 10 minutes behind");
        assert_eq!(difference(660), ", it is 11 minutes ahead");
        assert!(difference(i64::MIN).ends_with("behind"));
    }
}
