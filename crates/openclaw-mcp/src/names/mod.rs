//! What tools are called for models, and the way back from a name to its tool.
//!
//! The way back is a table. Names are never taken apart: both halves of a name may hold whatever
//! joins them.

mod own_names;
mod qualified;
mod spelling;
mod table;

pub(crate) use own_names::OwnNames;
pub use qualified::{QualifiedToolName, RESERVED};
pub(crate) use qualified::{ServerForms, in_names};
pub(crate) use spelling::Spelling;
pub(crate) use table::fold;
pub use table::{Lookup, NamedTool, ToolKey, ToolNames, ToolSource};
pub(crate) use table::{find, get};
