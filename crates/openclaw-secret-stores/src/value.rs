//! From what a store answered to a secret that can be used.

use std::ops::Deref;

use openclaw_secrets::Secret;
use secrecy::zeroize::Zeroize as _;
use serde_json::Value as Json;

use crate::error::SecretError;

/// How large a secret may be. It is what the redactor hides as a whole, and what cloud services
/// take; a variable can't be much larger.
pub(crate) const LARGEST_SECRET: usize = 64 * 1024;

/// A secret from bytes. A line break at the very end is not part of it: `echo` and editors leave
/// one, and no credential has one.
pub(crate) fn from_bytes(bytes: Vec<u8>) -> Result<Secret, SecretError> {
    if bytes.len() > LARGEST_SECRET {
        let reason = format!(
            "it has {} bytes, and more than {LARGEST_SECRET} are no credential",
            bytes.len()
        );
        wipe(bytes);
        return Err(SecretError::unusable(reason));
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        wipe(error.into_bytes());
        binary()
    })?;
    if text.contains('\0') {
        text.zeroize();
        return Err(binary());
    }
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    if text.is_empty() {
        return Err(SecretError::unusable("it is empty"));
    }
    Ok(Secret::new(text))
}

/// A secret from a text.
pub(crate) fn from_text(text: impl Into<String>) -> Result<Secret, SecretError> {
    from_bytes(text.into().into_bytes())
}

/// A secret from a value of a JSON document: a text, or what is written like one.
pub(crate) fn from_json(value: &Json) -> Result<Secret, SecretError> {
    match value {
        Json::String(text) => from_text(text.as_str()),
        // What the parser made of it may be written in another way, and is no longer the secret.
        Json::Number(number) if number.is_f64() => Err(SecretError::unusable(
            "it is a number that can't be taken exactly: store it as a text",
        )),
        Json::Number(number) => from_text(number.to_string()),
        Json::Bool(_) | Json::Null => Err(SecretError::unusable("it is not a text")),
        Json::Array(_) | Json::Object(_) => Err(SecretError::unusable(
            "it is a list or an object of several values",
        )),
    }
}

/// A JSON document that may have secrets in it: its texts are overwritten when it is dropped.
///
/// Names of fields and numbers are not, and neither is what the parser used on its way.
pub(crate) struct Document(Json);

impl Document {
    pub(crate) fn parse(bytes: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(bytes).map(Self)
    }

    /// Takes the value of a field out of it.
    pub(crate) fn take(&mut self, field: &str) -> Option<Self> {
        self.0.get_mut(field).map(|value| Self(value.take()))
    }

    /// The text that it is.
    pub(crate) fn into_text(mut self) -> Option<String> {
        match self.0.take() {
            Json::String(text) => Some(text),
            other => {
                self.0 = other;
                None
            }
        }
    }
}

impl Deref for Document {
    type Target = Json;

    fn deref(&self) -> &Json {
        &self.0
    }
}

impl Drop for Document {
    fn drop(&mut self) {
        wipe_texts(&mut self.0);
    }
}

/// Overwrites the texts of a document. It is not deep: the parser refuses what is.
fn wipe_texts(value: &mut Json) {
    match value {
        Json::String(text) => text.zeroize(),
        Json::Array(values) => values.iter_mut().for_each(wipe_texts),
        Json::Object(fields) => fields.values_mut().for_each(wipe_texts),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// Overwrites what is no longer needed.
pub(crate) fn wipe(mut bytes: Vec<u8>) {
    bytes.zeroize();
}

fn binary() -> SecretError {
    SecretError::unusable("it is binary: only text can be a variable or a header")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::SecretErrorKind;

    #[test]
    fn every_text_of_a_document_is_overwritten() {
        let mut value = json!({ "a": "one", "b": [1, "two", { "c": ["three", null] }], "d": true });
        wipe_texts(&mut value);
        let empty = json!({ "a": "", "b": [1, "", { "c": ["", null] }], "d": true });
        assert_eq!(value, empty);
    }

    #[test]
    fn parts_of_a_document_are_taken_out_of_it() {
        let mut document = Document::parse(br#"{"a": "one", "b": {"c": "two"}}"#).unwrap();
        let inner = document.take("b").unwrap();
        assert_eq!(*inner, json!({ "c": "two" }));
        assert_eq!(inner.into_text(), None);
        let text = document.take("a").and_then(Document::into_text);
        assert_eq!(text.as_deref(), Some("one"));
        assert!(document.take("x").is_none());
        assert_eq!(*document, json!({ "a": null, "b": null }));
    }

    fn text(bytes: &[u8]) -> Result<String, String> {
        let secret = from_bytes(bytes.to_vec()).map_err(|error| {
            assert_eq!(error.kind(), SecretErrorKind::Unusable);
            error.to_string()
        })?;
        Ok(secret.expose().to_owned())
    }

    #[test]
    fn one_line_break_at_the_end_is_not_part_of_a_secret() {
        for (bytes, secret) in [
            ("key", "key"),
            ("key\n", "key"),
            ("key\r\n", "key"),
            ("key\n\n", "key\n"),
            ("key\r\n\r\n", "key\r\n"),
            // Only a line break: these are somebody's.
            ("key\r", "key\r"),
            (" key ", " key "),
            ("\nkey", "\nkey"),
            ("one\r\ntwo\n", "one\r\ntwo"),
            ("schlüssel\n", "schlüssel"),
        ] {
            assert_eq!(text(bytes.as_bytes()), Ok(secret.to_owned()), "{bytes:?}");
        }
    }

    #[test]
    fn nothing_is_no_secret() {
        for bytes in ["", "\n", "\r\n"] {
            let empty = Err("it is empty".to_owned());
            assert_eq!(text(bytes.as_bytes()), empty, "{bytes:?}");
        }
    }

    #[test]
    fn only_text_is_a_secret() {
        for bytes in [
            &b"\xff\xfe"[..],
            b"key\0",
            b"\0",
            b"ke\xc3",
            b"\xed\xa0\x80",
        ] {
            let reason = text(bytes).unwrap_err();
            assert!(reason.starts_with("it is binary"), "{bytes:?}: {reason}");
        }
    }

    #[test]
    fn the_largest_secret_is_one_and_a_byte_more_is_not() {
        let largest = vec![b'x'; LARGEST_SECRET];
        assert_eq!(text(&largest).unwrap().len(), 65_536);
        let mut larger = largest;
        larger.push(b'x');
        let reason = text(&larger).unwrap_err();
        let expected = "it has 65537 bytes, and more than 65536 are no credential";
        assert_eq!(reason, expected);
    }

    #[test]
    fn texts_and_numbers_of_a_document_are_secrets() {
        for (value, secret) in [
            (json!("key\n"), "key"),
            (json!(1234), "1234"),
            (json!(-5), "-5"),
            (json!(u64::MAX), "18446744073709551615"),
        ] {
            assert_eq!(from_json(&value).unwrap().expose(), secret);
        }
        let inexact = "it is a number that can't be taken exactly: store it as a text";
        for (value, reason) in [
            (json!(1.50), inexact),
            // One more than the largest that is taken exactly.
            (
                serde_json::from_str("18446744073709551616").unwrap(),
                inexact,
            ),
            (json!(null), "it is not a text"),
            (json!(true), "it is not a text"),
            (json!(["a"]), "it is a list or an object of several values"),
            (
                json!({ "a": "b" }),
                "it is a list or an object of several values",
            ),
            (json!(""), "it is empty"),
        ] {
            let error = from_json(&value).unwrap_err();
            assert_eq!(error.kind(), SecretErrorKind::Unusable);
            assert_eq!(error.to_string(), reason, "{value}");
        }
        let error = from_json(&json!("a\0b")).unwrap_err();
        assert!(error.to_string().starts_with("it is binary"));
    }
}
