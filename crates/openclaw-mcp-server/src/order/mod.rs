//! The arguments of a call, checked: what is left is an order that an agent can be given.

mod kinds;

#[cfg(test)]
mod tests;

use openclaw_content::{clean_name, shown_line};
use openclaw_engine::{Attachment, AttachmentData};
use serde_json::{Map, Value};

use crate::intake::{Luggage, SpoolProblem};
use kinds::List;

/// How many images may come with a message.
pub(crate) const MOST_IMAGES: usize = 10;
/// How many other files may.
pub(crate) const MOST_FILES: usize = 5;
/// How much of something that the caller wrote is repeated, in characters.
const SHOWN: usize = 100;

/// What an agent is asked.
#[derive(Debug)]
pub(crate) struct Order {
    /// The message, as it was written.
    pub(crate) message: String,
    /// The session that it belongs to; a new one if none is named.
    pub(crate) session: Option<String>,
    /// What comes with it.
    pub(crate) attachments: Vec<Attachment>,
    /// How many bytes that has.
    pub(crate) bytes: u64,
}

/// Why arguments are no order, for whoever sent them.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refusal(String);

impl Order {
    /// Reads the arguments of a call. What the schema does not name is ignored.
    pub(crate) fn read(
        mut arguments: Map<String, Value>,
        luggage: &Luggage,
    ) -> Result<Self, Refusal> {
        let message = match arguments.remove("message") {
            Some(Value::String(message)) => message,
            None | Some(Value::Null) => return Err(refusal("`message` is missing")),
            Some(other) => return Err(wrong_type("message", "a string", &other)),
        };
        let session = optional_text(&mut arguments, "sessionKey", "sessionKey")?;
        let mut order = Self {
            message,
            session,
            attachments: Vec::new(),
            bytes: 0,
        };
        for list in [List::Images, List::Files] {
            order.attach(list, &mut arguments, luggage)?;
        }
        if order.message.trim().is_empty() && order.attachments.is_empty() {
            return Err(refusal("`message` is empty, and nothing comes with it"));
        }
        Ok(order)
    }

    fn attach(
        &mut self,
        list: List,
        arguments: &mut Map<String, Value>,
        luggage: &Luggage,
    ) -> Result<(), Refusal> {
        let name = list.name();
        let entries = match arguments.remove(name) {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::Array(entries)) => entries,
            Some(other) => return Err(wrong_type(name, "an array", &other)),
        };
        let most = list.most();
        if entries.len() > most {
            let count = entries.len();
            let message = format!("there are {count} {name}, and {most} is the most");
            return Err(Refusal(message));
        }
        for (number, entry) in entries.into_iter().enumerate() {
            let place = format!("{name}[{number}]");
            let Value::Object(entry) = entry else {
                return Err(wrong_type(&place, "an object", &entry));
            };
            let (attachment, bytes) = attachment(list, &place, entry, luggage)?;
            self.bytes = self.bytes.saturating_add(bytes);
            self.attachments.push(attachment);
        }
        Ok(())
    }
}

fn attachment(
    list: List,
    place: &str,
    mut entry: Map<String, Value>,
    luggage: &Luggage,
) -> Result<(Attachment, u64), Refusal> {
    let declared = match entry.remove("mimeType") {
        Some(Value::String(declared)) => declared,
        None | Some(Value::Null) => return Err(missing(place, "mimeType")),
        Some(other) => return Err(wrong_type(&format!("{place}.mimeType"), "a string", &other)),
    };
    let mime_type = list.accepted(&declared).map_err(|known| {
        let declared = shown_line(&declared, SHOWN);
        Refusal(format!(
            "`{place}.mimeType` is `{declared}`, and {} takes: {known}",
            list.name()
        ))
    })?;
    let name = optional_text(&mut entry, "filename", &format!("{place}.filename"))?;
    let content = match entry.remove("data") {
        // What stands there is the place of what was spooled, whatever was sent.
        Some(Value::String(at)) => at.parse().ok().and_then(|at| luggage.take(at)),
        None | Some(Value::Null) => return Err(missing(place, "data")),
        Some(other) => return Err(wrong_type(&format!("{place}.data"), "a string", &other)),
    };
    let Some(content) = content else {
        return Err(missing(place, "data"));
    };
    let file = content.file.map_err(|problem| match problem {
        SpoolProblem::TooLarge { bytes, limit } => Refusal(format!(
            "`{place}` has {bytes} bytes, and {limit} is the most"
        )),
        problem => Refusal(format!("`{place}.data` can't be used: {problem}")),
    })?;
    if content.bytes == 0 {
        return Err(Refusal(format!("`{place}.data` is empty")));
    }
    kinds::check(mime_type, &content.head).map_err(|found| {
        Refusal(format!(
            "`{place}` is declared as {mime_type}, and its bytes {found}"
        ))
    })?;
    let attachment = Attachment {
        name: name.as_deref().and_then(file_name),
        mime_type: mime_type.to_owned(),
        data: AttachmentData::File(file),
    };
    Ok((attachment, content.bytes))
}

/// A name of a file without the directories that may stand before it, fit for a line of ours. No file
/// is ever made under it.
fn file_name(written: &str) -> Option<String> {
    let name = written.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_name = name
        .chars()
        .any(|character| character.is_alphanumeric() && !character.is_control());
    is_name.then(|| clean_name(name))
}

fn optional_text(
    fields: &mut Map<String, Value>,
    name: &str,
    place: &str,
) -> Result<Option<String>, Refusal> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong_type(place, "a string", &other)),
    }
}

fn refusal(message: &str) -> Refusal {
    Refusal(message.to_owned())
}

fn missing(place: &str, field: &str) -> Refusal {
    Refusal(format!("`{place}.{field}` is missing"))
}

fn wrong_type(place: &str, wanted: &str, found: &Value) -> Refusal {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    Refusal(format!("`{place}` must be {wanted}, and is {found}"))
}
