//! What persons, models and tools said to each other, as data: sent to models, kept in sessions.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `message` | who said what | how a service writes it |
//! | `call` | calls of tools and their answers | calling |
//! | `media` | images and other binary content | decoding of it |
//! | `usage` | what an answer cost | prices |

mod call;
mod media;
mod message;
mod usage;

pub use call::{AnswerPart, CallArguments, ToolAnswer, ToolCall};
pub use media::{Blob, BlobId, Media};
pub use message::{AssistantMessage, AssistantPart, Message, Opaque, UserPart};
pub use usage::Usage;
