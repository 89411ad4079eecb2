//! Reads server-sent events within limits, for everybody who is sent some: MCP servers and services
//! with models.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `event` | one event | where it came from |
//! | `parser` | the format of event streams | input and output, what events mean |

mod event;
mod parser;

pub use event::Event;
pub use parser::{EventParser, TooLarge};
