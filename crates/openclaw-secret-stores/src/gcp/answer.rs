//! What stands in the answers of Secret Manager: a secret, or words of the protocol.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use openclaw_secrets::Secret;
use serde_json::Value as Json;

use super::checksum::crc32c;
use crate::error::SecretError;
use crate::value;

/// Base64 as JSON has it, whether padded or not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The state of a version that can't be read.
#[derive(Clone, Copy)]
pub(super) enum State {
    Disabled,
    Destroyed,
}

/// What an answer says is wrong: words of the protocol, and no others.
#[derive(Default)]
pub(super) struct Problem {
    /// The name of the status, such as `PERMISSION_DENIED`.
    pub(super) status: Option<String>,
    /// A more precise word, such as `SERVICE_DISABLED`.
    pub(super) reason: Option<String>,
    pub(super) state: Option<State>,
}

impl Problem {
    pub(super) fn of(body: &[u8]) -> Self {
        let Ok(json) = serde_json::from_slice::<Json>(body) else {
            // A proxy between may answer in HTML.
            return Self::default();
        };
        let error = &json["error"];
        let details = error["details"].as_array();
        let mut details = details.into_iter().flatten();
        let message = error["message"].as_str().unwrap_or_default();
        let state = if message.contains("DESTROYED state") {
            Some(State::Destroyed)
        } else if message.contains("DISABLED state") {
            Some(State::Disabled)
        } else {
            None
        };
        Self {
            status: word(&error["status"]),
            reason: details.find_map(|detail| word(&detail["reason"])),
            state,
        }
    }

    /// The words as they stand behind a status.
    pub(super) fn shown(&self) -> String {
        let word = self.reason.as_ref().or(self.status.as_ref());
        word.map(|word| format!(" {word}")).unwrap_or_default()
    }
}

/// A word of the protocol. Anything else might be somebody's secret.
fn word(value: &Json) -> Option<String> {
    let word = value.as_str()?;
    let allowed = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let is_word = (1..=60).contains(&word.len()) && word.bytes().all(allowed);
    is_word.then(|| word.to_owned())
}

/// The secret in an answer.
pub(super) fn payload(body: &[u8]) -> Result<Secret, SecretError> {
    let unreadable = || {
        SecretError::unusable("the answer of Google Secret Manager is not one: it has no payload")
    };
    let json: Json = serde_json::from_slice(body).map_err(|_| unreadable())?;
    let payload = json.get("payload").ok_or_else(unreadable)?;
    // An empty secret has no data.
    let data = match payload.get("data") {
        Some(data) => data.as_str().ok_or_else(unreadable)?,
        None => "",
    };
    let bytes = BASE64.decode(data).map_err(|_| unreadable())?;
    // JSON has no integers of 64 bits, so they are texts there.
    let stated = match payload.get("dataCrc32c") {
        Some(Json::String(text)) => text.parse().ok(),
        Some(number) => number.as_u64(),
        None => Some(u64::from(crc32c(&bytes))),
    };
    if stated != Some(u64::from(crc32c(&bytes))) {
        value::wipe(bytes);
        return Err(SecretError::unusable(
            "it was changed on the way: its checksum is another one",
        ));
    }
    value::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text_of(payload_of: &Json) -> Result<String, String> {
        let body = json!({ "name": "x", "payload": payload_of }).to_string();
        let secret = payload(body.as_bytes());
        secret
            .map(|secret| secret.expose().to_owned())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn payloads_are_read_with_and_without_checksum_and_padding() {
        for given in [
            json!({ "data": "aHVudGVyMg==" }),
            json!({ "data": "aHVudGVyMg" }),
            json!({ "data": "aHVudGVyMg==", "dataCrc32c": crc32c(b"hunter2").to_string() }),
            json!({ "data": "aHVudGVyMg==", "dataCrc32c": crc32c(b"hunter2") }),
        ] {
            assert_eq!(text_of(&given).unwrap(), "hunter2", "{given}");
        }
    }

    #[test]
    fn a_checksum_that_is_no_number_is_a_wrong_one() {
        for checksum in [json!("x"), json!(-1), json!(null), json!("1")] {
            let given = json!({ "data": "aHVudGVyMg==", "dataCrc32c": checksum });
            assert!(text_of(&given).unwrap_err().contains("checksum"));
        }
    }

    #[test]
    fn words_that_are_not_of_the_protocol_are_not_taken_over() {
        assert_eq!(
            word(&json!("SERVICE_DISABLED")).unwrap(),
            "SERVICE_DISABLED"
        );
        for other in [json!("hunter2"), json!("A B"), json!(""), json!(7)] {
            assert_eq!(word(&other), None, "{other}");
        }
    }
}
