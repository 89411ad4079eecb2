//! The schemas of tools, made such that models take them.
//!
//! Arguments are checked against the schema that the server gave; what is made here only tells a
//! model what to write.

mod dialect;
mod inline;
mod repair;

use serde_json::{Map, Value};
use std::fmt;

pub(crate) use inline::target;

/// Whose model the schema is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaDialect {
    /// One that takes what is usual.
    General,
    /// Google's, which refuses many keywords.
    Gemini,
    /// OpenAI's strict mode, in which every property is required and no other is allowed.
    OpenAiStrict,
}

/// Why a schema can't be made such that models take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaError {
    /// It is larger than anybody should send to a model.
    TooLarge,
    /// It refers to something outside of itself, which is never fetched.
    ForeignReference(String),
    /// It refers to something that is not there.
    MissingReference(String),
    /// It does not describe an object.
    NotAnObject,
    /// It describes something that strict mode can't: properties of any name, say.
    NotStrict,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => formatter.write_str("its schema is too large"),
            Self::ForeignReference(to) => {
                write!(formatter, "its schema refers to something elsewhere: {to}")
            }
            Self::MissingReference(to) => {
                write!(
                    formatter,
                    "its schema refers to something that is not there: {to}"
                )
            }
            Self::NotAnObject => formatter.write_str("its schema does not describe an object"),
            Self::NotStrict => formatter.write_str("its schema can't be made strict"),
        }
    }
}

impl std::error::Error for SchemaError {}

/// Makes a schema such that a model takes it.
pub fn schema_for_model(
    schema: &Map<String, Value>,
    dialect: SchemaDialect,
) -> Result<Map<String, Value>, SchemaError> {
    let inlined = inline::inline(schema)?;
    let repaired = repair::repair(inlined)?;
    match dialect {
        SchemaDialect::General => Ok(repaired),
        SchemaDialect::Gemini => Ok(dialect::gemini(repaired)),
        SchemaDialect::OpenAiStrict => dialect::openai_strict(repaired),
    }
}

#[cfg(test)]
mod tests;
