//! What a server may ask of us, and our answers.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::timeout;
use url::Url;

use crate::person::{Elicitation, ElicitationAnswer, Person, THINKING};
use crate::wire::{RawJson, RpcError};

/// The answer to a request of a server.
pub(crate) type Answer = Result<Value, Refusal>;

/// Why a request of a server is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    UnknownMethod,
    InvalidParameters,
    Busy,
}

impl Refusal {
    pub(crate) fn code(self) -> i64 {
        match self {
            Self::UnknownMethod => RpcError::METHOD_NOT_FOUND,
            Self::InvalidParameters => -32602,
            Self::Busy => -32000,
        }
    }

    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::UnknownMethod => "this client does not offer that method",
            Self::InvalidParameters => "the parameters can't be read",
            Self::Busy => "too many questions are open",
        }
    }
}

/// A request that was looked at.
pub(crate) enum Asked {
    /// The answer is known.
    Answered(Answer),
    /// A person has to be asked.
    Person(Elicitation),
}

/// Looks at a request. Sampling is refused: no capability for it is ever announced.
pub(crate) fn look_at(method: &str, params: Option<&RawJson>, roots: Option<&[Url]>) -> Asked {
    match (method, roots) {
        ("ping", _) => Asked::Answered(Ok(json!({}))),
        ("roots/list", Some(roots)) => {
            let roots: Vec<Value> = roots
                .iter()
                .map(|root| json!({ "uri": root.as_str() }))
                .collect();
            Asked::Answered(Ok(json!({ "roots": roots })))
        }
        ("elicitation/create", _) => match Elicitation::read(params) {
            Some(question) => Asked::Person(question),
            None => Asked::Answered(Err(Refusal::InvalidParameters)),
        },
        _ => Asked::Answered(Err(Refusal::UnknownMethod)),
    }
}

/// Asks a person, or says no where there is none. A question that nobody answers is put away.
pub(crate) async fn ask(person: Option<&Arc<dyn Person>>, question: Elicitation) -> Value {
    let answer = match person {
        Some(person) => {
            let answer = timeout(THINKING, person.elicit(question)).await;
            answer.unwrap_or(ElicitationAnswer::Cancel)
        }
        None => ElicitationAnswer::Decline,
    };
    answer.into_result()
}
