//! What servers offer and answer, read leniently: one bad item costs only itself.

mod content;
mod fields;
mod listing;
mod prompt;
mod resource;
mod server;
mod tool;

pub use content::{Content, Embedded};
pub(crate) use fields::Fields;
pub use listing::{Dropped, Listing, Truncation};
pub(crate) use listing::{ListKind, read_item};
pub use prompt::{
    Completion, CompletionTarget, Prompt, PromptArgument, PromptMessage, PromptResult,
};
pub use resource::{Resource, ResourceContents, ResourceTemplate};
pub use server::{Capabilities, ServerInfo};
pub use tool::{Tool, ToolAnnotations, ToolResult};
