//! The person behind a call, whom a server may ask something.

use std::pin::Pin;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::wire::RawJson;

/// How long a person may think about a question. Meanwhile the time of a request stands still, so
/// that there has to be an end to it.
pub(crate) const THINKING: Duration = Duration::from_mins(10);
/// How long a question may be.
const LIMIT: usize = 1024 * 1024;

/// A question of a server to a person. All of it is the server's word.
#[derive(Clone, Debug, PartialEq)]
pub enum Elicitation {
    /// Fill in a form.
    Form {
        /// What it is for.
        message: String,
        /// The fields, as a JSON Schema.
        schema: Value,
    },
    /// Visit an address.
    Visit {
        /// What it is for.
        message: String,
        /// The address.
        url: String,
        /// What the server calls this question.
        id: String,
    },
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ElicitationAnswer {
    /// Yes, with what was filled in.
    Accept(Option<Map<String, Value>>),
    /// No.
    Decline,
    /// Neither: the question was put away.
    Cancel,
}

/// An answer that is still to come.
pub type PendingAnswer<'a> = Pin<Box<dyn Future<Output = ElicitationAnswer> + Send + 'a>>;

/// Somebody who can answer questions.
pub trait Person: Send + Sync {
    /// Asks; dropping the future withdraws the question.
    fn elicit(&self, question: Elicitation) -> PendingAnswer<'_>;
}

impl Elicitation {
    /// Reads a question, if it is one.
    pub(crate) fn read(params: Option<&RawJson>) -> Option<Self> {
        let params = params.filter(|params| params.text().len() <= LIMIT)?;
        Self::of(params.value().ok()?)
    }

    /// The question that a value is, if it is one.
    pub(crate) fn of(value: Value) -> Option<Self> {
        let Value::Object(mut fields) = value else {
            return None;
        };
        let mut text = |name: &str| match fields.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let message = text("message")?;
        match text("mode").as_deref() {
            None | Some("form") => Some(Self::Form {
                message,
                schema: fields
                    .remove("requestedSchema")
                    .unwrap_or_else(|| json!({ "type": "object", "properties": {} })),
            }),
            Some("url") => Some(Self::Visit {
                message,
                url: text("url")?,
                id: text("elicitationId").unwrap_or_default(),
            }),
            Some(_) => None,
        }
    }
}

impl ElicitationAnswer {
    /// What the server gets.
    pub(crate) fn into_result(self) -> Value {
        match self {
            Self::Accept(Some(content)) => json!({ "action": "accept", "content": content }),
            Self::Accept(None) => json!({ "action": "accept" }),
            Self::Decline => json!({ "action": "decline" }),
            Self::Cancel => json!({ "action": "cancel" }),
        }
    }
}
