//! The type that holds a credential while it is in use.

use std::fmt;
use std::hint::black_box;

use secrecy::zeroize::Zeroize as _;
use secrecy::{ExposeSecret as _, SecretString};

/// What stands in the place of a secret in every text that a person, a log or a model sees.
pub const REDACTED: &str = "[REDACTED]";

/// A credential that cannot be printed or serialised by accident.
///
/// The text is reachable only through [`Secret::expose`], so every use is easy to find, and the
/// memory is overwritten when the value is dropped.
///
/// There is no `Display`:
///
/// ```compile_fail,E0277
/// let secret = openclaw_secrets::Secret::new("hunter2");
/// let text = format!("{secret}");
/// ```
///
/// nor serde's `Serialize`:
///
/// ```compile_fail,E0277
/// let secret = openclaw_secrets::Secret::new("hunter2");
/// let text = serde_json::to_string(&secret);
/// ```
///
/// and `Debug` tells nothing, not even the length:
///
/// ```
/// let secret = openclaw_secrets::Secret::new("hunter2");
/// assert_eq!(format!("{secret:?}"), "Secret([REDACTED])");
/// assert_eq!(secret.expose(), "hunter2");
/// ```
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Takes over a text as a secret.
    pub fn new(text: impl Into<String>) -> Self {
        let mut text = text.into();
        // Turning the `String` itself into a box may move it and leave the old bytes behind.
        let boxed: Box<str> = Box::from(text.as_str());
        text.zeroize();
        Self(SecretString::from(boxed))
    }

    /// Returns the text, for the one place that needs it.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.expose().len()
    }

    /// Says whether the secret is the empty text.
    pub fn is_empty(&self) -> bool {
        self.expose().is_empty()
    }
}

/// Compares in a time that depends on the lengths alone, not on where the texts differ.
impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        let (left, right) = (self.expose().as_bytes(), other.expose().as_bytes());
        if left.len() != right.len() {
            return false;
        }
        // `black_box` keeps the optimiser from leaving the loop at the first difference.
        let difference = left
            .iter()
            .zip(right)
            .fold(0, |seen, (one, two)| black_box(seen | (one ^ two)));
        difference == 0
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Secret({REDACTED})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_hides_the_value_in_every_format() {
        let secret = Secret::new("hunter2-hunter2");
        assert_eq!(format!("{secret:?}"), "Secret([REDACTED])");
        assert_eq!(format!("{secret:#?}"), "Secret([REDACTED])");
        assert_eq!(
            format!("{:?}", Some(secret.clone())),
            "Some(Secret([REDACTED]))"
        );
    }

    #[test]
    fn equality_sees_every_byte_and_the_length() {
        let secret = Secret::new("abcdef");
        assert_eq!(secret, Secret::new("abcdef"));
        assert_eq!(secret, secret.clone());
        for other in ["Xbcdef", "abcdeX", "abcXef", "abcde", "abcdefg", ""] {
            assert_ne!(secret, Secret::new(other), "{other}");
        }
        assert_eq!(Secret::new(""), Secret::new(String::new()));
    }

    #[test]
    fn length_counts_bytes() {
        assert_eq!(Secret::new("é").len(), 2);
        assert!(!Secret::new("é").is_empty());
        assert!(Secret::new("").is_empty());
    }
}
