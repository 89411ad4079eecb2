//! The type that a model may read.

use std::fmt;

/// Text that may be given to a model.
///
/// Only this crate makes one: from our own words, and from foreign text that was neutralised and,
/// unless it is part of a definition, framed. There is no way from a `String` to here.
///
/// ```compile_fail
/// let text: openclaw_content::ModelText = String::from("anything").into();
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ModelText {
    text: String,
}

impl ModelText {
    /// The text of a constructor of this crate.
    pub(crate) fn new(text: String) -> Self {
        Self { text }
    }

    /// Puts texts one below the other.
    pub fn joined<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut text = String::new();
        for part in parts {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&part.text);
        }
        Self { text }
    }

    /// The text, to be read.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text, to be sent.
    pub fn into_string(self) -> String {
        self.text
    }

    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

impl fmt::Display for ModelText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.text)
    }
}

impl fmt::Debug for ModelText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, formatter)
    }
}
