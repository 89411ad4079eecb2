//! From what a store answered to a secret that can be used.

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
        Json::Number(number) => from_text(number.to_string()),
        Json::Bool(_) | Json::Null => Err(SecretError::unusable("it is not a text")),
        Json::Array(_) | Json::Object(_) => Err(SecretError::unusable(
            "it is a list or an object of several values",
        )),
    }
}

/// Overwrites what is no longer needed.
pub(crate) fn wipe(mut bytes: Vec<u8>) {
    bytes.zeroize();
}

fn binary() -> SecretError {
    SecretError::unusable("it is binary: only text can be a variable or a header")
}
