//! Types that know how they stand in the configuration.
//!
//! A [`Shape`] reads itself from a node of the document and describes itself as JSON Schema, so
//! that what `config validate` accepts and what `config schema` says come from one place. Reading
//! never stops at the first mistake: each is reported, and the rest is read on.

mod context;
mod object;
mod primitives;
mod schema;

pub(crate) use context::{Context, Field, Located, UsedCredentials};
pub(crate) use object::{choices, object};
pub(crate) use primitives::{
    Literal, Milliseconds, Named, NamedValue, NonEmpty, Placed, Port, Whole, choice,
};
pub(crate) use schema::{Definitions, FieldDescription, reference};

use serde_json::Value as Json;

use crate::tree::Node;

/// A type that can be read from a document and described to a reader of its schema.
pub(crate) trait Shape: Sized {
    /// Reads the value; `None` where it is wrong, which has been reported then.
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self>;

    /// The JSON Schema of the values that [`Shape::decode`] accepts.
    fn schema(definitions: &mut Definitions) -> Json;
}
