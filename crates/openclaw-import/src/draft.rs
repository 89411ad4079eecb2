//! An entry on its way.

use openclaw_secrets::{SecretReference, contains_secret_uri};
use serde_json::{Map, Value};

use crate::client::Client;
use crate::fields::kind;
use crate::printable::{Messages, printable};
use crate::variables::{Origin, Template, is_variable};

/// Why a server cannot be taken over; it completes "`name` is left out: …".
pub(crate) type Refusal = String;

/// An entry with what is to be said about it.
pub(crate) struct Draft<'a> {
    pub(crate) origin: Origin<'a>,
    pub(crate) entry: Map<String, Value>,
    pub(crate) notes: Messages,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(origin: Origin<'a>) -> Self {
        Self {
            origin,
            entry: Map::new(),
            notes: Messages::default(),
        }
    }

    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.entry.insert(key.to_owned(), value.into());
    }

    /// Sets a field unless there is nothing in it.
    pub(crate) fn set_filled(&mut self, key: &str, value: Map<String, Value>) {
        if !value.is_empty() {
            self.set(key, value);
        }
    }

    pub(crate) fn note(&mut self, message: impl Into<String>) {
        self.notes.add(message);
    }

    /// Says that a field is left out because of its type.
    pub(crate) fn note_type(&mut self, field: &str, wanted: &str, value: &Value) {
        let found = kind(value);
        self.note(format!(
            "`{}` is left out: expected {wanted}, found {found}",
            printable(field)
        ));
    }

    /// Reads a text without which there is no server.
    pub(crate) fn needed_text(&mut self, value: &Value, field: &str) -> Result<Template, Refusal> {
        let Value::String(text) = value else {
            return Err(format!("`{field}` is {}, not a string", kind(value)));
        };
        let template = self.origin.fill(text, field, &mut self.notes);
        match flaw(&template.render()) {
            Some(flaw) => Err(format!("`{field}` {flaw}")),
            None if template.plain() == Some("") => Err(format!("`{field}` is empty")),
            None => Ok(template),
        }
    }

    /// Reads a text that can be left out, which is said then.
    pub(crate) fn optional_text(&mut self, value: &Value, field: &str) -> Option<Template> {
        let read = self.needed_text(value, field);
        read.inspect_err(|refusal| self.notes.add(format!("{refusal}, and is left out")))
            .ok()
    }

    /// Reads a value that may be a credential, such as that of a variable or header.
    pub(crate) fn credential(&mut self, value: &Value, field: &str) -> Option<Value> {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => return Some(Value::String(value.to_string())),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                self.note_type(field, "a string", value);
                return None;
            }
        };
        if let Some(reference) = self.file_reference(&text) {
            // Said, because it hands the content of a file to the server.
            self.note(format!(
                "`{field}` is read from a file: `{}`",
                printable(&reference)
            ));
            return Some(Value::String(reference));
        }
        let template = self.origin.fill(&text, field, &mut self.notes);
        let rendered = template.render();
        if let Some(flaw) = flaw(&rendered) {
            self.note(format!("`{field}` {flaw}, and is left out"));
            return None;
        }
        // Only a whole value is read this way, and there is no way to write it as a text.
        if let Some(name) = rendered.strip_prefix('$')
            && is_variable(name)
        {
            self.note(format!("`{field}`: openclaw reads `${name}` as a variable"));
        }
        Some(Value::String(rendered))
    }

    /// `${file:…}` as a whole value, for which openclaw has references.
    fn file_reference(&self, text: &str) -> Option<String> {
        if self.origin.client != Client::Windsurf {
            return None;
        }
        let path = text.strip_prefix("${file:")?.strip_suffix('}')?;
        if path.contains(['#', '?', '%', '$', '}']) || path.contains(char::is_control) {
            return None;
        }
        let reference = match path.strip_prefix('/') {
            Some(rest) => format!("secret://file/{rest}"),
            None if path.starts_with("~/") => format!("secret://file/{path}"),
            None => return None,
        };
        let is_sound = reference.parse::<SecretReference>().is_ok();
        is_sound.then_some(reference)
    }
}

/// What `openclaw.json` refuses in any text, or what must not come from a foreign file.
///
/// A reference would hand a secret of ours to a server that somebody else has named.
pub(crate) fn flaw(text: &str) -> Option<&'static str> {
    if text.contains('\0') {
        Some("contains a NUL character")
    } else if contains_secret_uri(text) {
        Some("contains a reference to a secret of openclaw, which only its own file may")
    } else {
        None
    }
}
