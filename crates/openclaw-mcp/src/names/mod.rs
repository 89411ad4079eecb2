//! What tools are called for models, and the way back from a name to its tool.
//!
//! The way back is a table. Names are never taken apart: both halves of a name may hold whatever
//! joins them.

mod qualified;
mod spelling;
mod table;

pub use qualified::{QualifiedToolName, RESERVED};
pub(crate) use qualified::{in_names, may_be_of};
pub(crate) use spelling::Spelling;
pub(crate) use table::fold;
pub use table::{Lookup, NamedTool, ToolKey, ToolNames, ToolSource};
pub(crate) use table::{find, get};
