//! Results that are too long to be shown at once, kept so that a model can read on.
//!
//! The texts are kept as servers sent them, and framed each time a part is shown. Secrets must be
//! redacted before a text comes here: what is kept is what models will read.

mod file;
mod id;
mod prune;
mod store;
mod tool;

pub use id::ResultId;
pub use store::{ReadResultError, ResultStore, StoredResult};
pub(crate) use tool::offset;
pub use tool::{READ_RESULT, answer_read_result, read_result_tool};
