//! Resources of servers: read and listed for models, put beside messages, completed for people.
//!
//! Everything that a resource holds is the server's word and leaves framed. What stands beside a
//! message is read when a turn begins, side by side and within limits, and kept only while the server
//! tells us of changes:
//!
//! ```text
//! patterns → choice → kept, or read → shares of the room → frames
//! ```

mod address;
mod choice;
mod complete;
mod contents;
mod inject;
mod kept;
mod list;
mod read;
mod room;
mod template;
mod tools;

pub(crate) use choice::is_chosen;
pub use inject::Injection;
pub(crate) use kept::KeptResources;
pub use template::{TypedVariable, typed_variable};
pub use tools::{LIST_RESOURCES, READ_RESOURCE};
pub(crate) use tools::{is_resource_tool, resource_tools};
