//! What is posted as a form, and what of it nobody may see.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::HeaderValue;
use openclaw_secrets::{Learned, REDACTED, Redactor, Secret};
use secrecy::zeroize::Zeroizing;
use url::form_urlencoded::Serializer;

use crate::error::quoted;

/// What is posted as a form.
#[derive(Default)]
pub(crate) struct Form {
    fields: Vec<(&'static str, Value)>,
    authorization: Option<(HeaderValue, Secret)>,
}

enum Value {
    Plain(String),
    Hidden(Secret),
}

impl Value {
    fn text(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Hidden(secret) => secret.expose(),
        }
    }
}

impl Form {
    /// Adds a field that everybody may see.
    pub(crate) fn plain(&mut self, name: &'static str, value: impl Into<String>) -> &mut Self {
        self.fields.push((name, Value::Plain(value.into())));
        self
    }

    /// Adds a field that nobody may see.
    pub(crate) fn hidden(&mut self, name: &'static str, value: &Secret) -> &mut Self {
        self.fields.push((name, Value::Hidden(value.clone())));
        self
    }

    /// Adds the header `Authorization`, which was made of a secret.
    pub(crate) fn authorize(&mut self, header: HeaderValue, of: &Secret) {
        self.authorization = Some((header, of.clone()));
    }

    /// The header `Authorization`.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        self.authorization
            .as_ref()
            .map(|(header, _)| header.clone())
    }

    /// The form as it is sent. It is overwritten when the last handle to it is dropped.
    pub(crate) fn body(&self) -> Bytes {
        let lengths = self.fields.iter();
        // A byte takes three at most, so nothing is moved and left behind.
        let length: usize = lengths
            .map(|(name, value)| 3 * (name.len() + value.text().len()) + 2)
            .sum();
        let mut serializer = Serializer::new(String::with_capacity(length));
        for (name, value) in &self.fields {
            serializer.append_pair(name, value.text());
        }
        Bytes::from_owner(Zeroizing::new(serializer.finish().into_bytes()))
    }

    /// What somebody said to the form, without what was hidden in it, fit to stand in a message.
    pub(crate) fn quoted(&self, text: &str) -> String {
        let redactor = Redactor::new();
        let hidden = self.fields.iter().filter_map(|(_, value)| match value {
            Value::Hidden(secret) => Some(secret),
            Value::Plain(_) => None,
        });
        let mut short = BTreeSet::new();
        for secret in hidden.chain(self.authorization.as_ref().map(|(_, secret)| secret)) {
            // What is too short to be told from other words is not hidden by itself.
            let learned = redactor.learn(secret);
            if !matches!(learned, Learned::Added | Learned::AlreadyKnown) {
                short.insert(secret.expose());
            }
        }
        if short
            .iter()
            .any(|secret| !secret.is_empty() && text.contains(secret))
        {
            return REDACTED.to_owned();
        }
        quoted(&redactor.redact(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_encoded_and_what_is_hidden_in_it_is_not_quoted() {
        let secret = Secret::new("s3cr3t/+ &=ä");
        let short = Secret::new("xyz");
        let mut form = Form::default();
        form.plain("a", "b c&d").hidden("code", &secret);
        assert_eq!(form.body(), "a=b+c%26d&code=s3cr3t%2F%2B+%26%3D%C3%A4");
        assert_eq!(
            form.quoted("no\n s3cr3t/+ &=ä and b c&d"),
            "no [REDACTED] and b c&d"
        );
        assert_eq!(
            form.quoted("s3cr3t%2F%2B+%26%3D%C3%A4 was wrong"),
            "[REDACTED] was wrong"
        );
        form.authorize(HeaderValue::from_static("Basic eHl6"), &short);
        assert_eq!(form.quoted("wrong: xyz"), "[REDACTED]");
        assert_eq!(form.quoted("wrong: xy"), "wrong: xy");
    }
}
