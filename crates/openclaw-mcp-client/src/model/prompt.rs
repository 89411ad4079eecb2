//! Prompts, and the completion of arguments.

use serde_json::{Map, Value, json};

use super::{Content, Fields};

/// A prompt of a server, in the server's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it takes.
    pub arguments: Vec<PromptArgument>,
}

/// One thing that a prompt takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Whether it must be given.
    pub required: bool,
}

/// A prompt with its arguments filled in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptResult {
    /// What it is for.
    pub description: Option<String>,
    /// Its messages.
    pub messages: Vec<PromptMessage>,
    /// How many messages could not be read.
    pub missing: usize,
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptMessage {
    /// Who is to say it: `user` or `assistant`.
    pub role: String,
    /// What is said.
    pub content: Content,
}

/// What an argument that is to be completed belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompletionTarget {
    /// The prompt of this name.
    Prompt(String),
    /// The template with this pattern.
    Template(String),
}

/// How an argument can go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The values, the best first.
    pub values: Vec<String>,
    /// How many there are in all, where the server says.
    pub total: Option<u64>,
    /// Whether there are more.
    pub has_more: bool,
}

impl Prompt {
    pub(crate) fn read(mut fields: Fields) -> Result<Self, String> {
        let name = fields.text("name").filter(|name| !name.is_empty());
        let name = name.ok_or("it has no name")?;
        let arguments = fields.array("arguments").unwrap_or_default();
        Ok(Self {
            name,
            title: fields.text("title"),
            description: fields.text("description"),
            arguments: arguments
                .into_iter()
                .filter_map(|argument| PromptArgument::read(Fields::of(argument)?))
                .collect(),
        })
    }
}

impl PromptArgument {
    fn read(mut fields: Fields) -> Option<Self> {
        Some(Self {
            name: fields.text("name")?,
            title: fields.text("title"),
            description: fields.text("description"),
            required: fields.flag("required").unwrap_or_default(),
        })
    }
}

impl PromptResult {
    pub(crate) fn read(mut fields: Fields) -> Result<Self, String> {
        let messages = fields
            .array("messages")
            .ok_or("the result has no messages")?;
        let count = messages.len();
        let messages: Vec<_> = messages
            .into_iter()
            .filter_map(|message| {
                let mut fields = Fields::of(message)?;
                Some(PromptMessage {
                    role: fields.text("role")?,
                    content: Content::read(fields.value("content")?),
                })
            })
            .collect();
        Ok(Self {
            description: fields.text("description"),
            missing: count - messages.len(),
            messages,
        })
    }
}

impl CompletionTarget {
    pub(crate) fn reference(&self) -> Value {
        match self {
            Self::Prompt(name) => json!({ "type": "ref/prompt", "name": name }),
            Self::Template(pattern) => json!({ "type": "ref/resource", "uri": pattern }),
        }
    }
}

impl Completion {
    pub(crate) fn read(mut fields: Fields) -> Result<Self, String> {
        let completion: Map<_, _> = fields
            .object("completion")
            .ok_or("the result has no completion")?;
        let mut fields = Fields(completion);
        let values = fields.array("values").unwrap_or_default();
        Ok(Self {
            values: values
                .into_iter()
                .filter_map(|value| match value {
                    Value::String(text) => Some(text),
                    _ => None,
                })
                .collect(),
            total: fields.number("total"),
            has_more: fields.flag("hasMore").unwrap_or_default(),
        })
    }
}
