//! Questions of servers to the person behind a call.

mod entry;
mod format;

pub use entry::Refusal;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A question of a server to a person. The server wrote its texts: whoever shows them says so, and
/// makes them fit for where they are shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerQuestion {
    /// The agent for which the server works.
    pub agent: String,
    /// The server.
    pub server: String,
    /// The tool that was called, by its name at the server.
    pub tool: String,
    /// What the question is about.
    pub message: String,
    /// What is asked for.
    pub asks: Asks,
}

/// What a server asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Asks {
    /// A form to be filled in.
    Form {
        /// Its fields, in their order.
        fields: Vec<FormField>,
    },
    /// An address to be visited. What is entered there stays between the person and that place.
    Visit {
        /// The address: `https`, or `http` to this machine.
        url: String,
    },
}

/// A field of a form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FormField {
    /// Its name in the answer.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Whether it has to be filled in.
    pub required: bool,
    /// What it takes.
    pub kind: FieldKind,
    /// What it has unless something else is entered.
    pub default: Option<Value>,
}

/// What a field takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum FieldKind {
    /// Text.
    Text {
        /// How many characters it has at least.
        least: Option<u64>,
        /// How many it has at most.
        most: Option<u64>,
        /// What it must be: `email`, `uri`, `date`, `date-time`.
        format: Option<String>,
    },
    /// A number.
    Number {
        /// Whether it is whole.
        whole: bool,
        /// The least.
        least: Option<f64>,
        /// The most.
        most: Option<f64>,
    },
    /// Yes or no.
    YesOrNo,
    /// One of several.
    One {
        /// Those.
        options: Vec<FieldOption>,
    },
    /// Some of several.
    Some {
        /// Those.
        options: Vec<FieldOption>,
        /// How many at least.
        least: Option<u64>,
        /// How many at most.
        most: Option<u64>,
    },
}

/// Something that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldOption {
    /// What the server gets.
    pub value: String,
    /// What people see.
    pub title: String,
}

/// What a person says to a question of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "fields", rename_all = "camelCase")]
pub enum ServerAnswer {
    /// Yes, with what was filled in.
    Accept(Map<String, Value>),
    /// No.
    Decline,
    /// Neither: the question was put away.
    Cancel,
}
