//! Commands behind a slash, the same wherever they are typed: read, answered, completed.
//!
//! They are answered by the engine that answers messages, without a model, so that a conversation in a
//! terminal, a single message, an editor and a gateway all get the same.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `message` | whether a message is a command | what it does |
//! | `words` | lines split into words | |
//! | `mcp` | `/mcp …`: what can be typed, and the answer | how servers are run |
//! | `help` | `/help` | |
//! | `prompts` | what a prompt is filled in with | prompts |
//! | `completion` | what is being typed at the end of a line | what could stand there |

mod completion;
mod help;
mod mcp;
mod message;
mod prompts;
mod words;

pub use completion::{Typing, Wanted, typing};
pub use help::{BUILTIN, TAKEN, help};
pub use mcp::{McpAsked, answer_mcp, login_expiries, options_of, subcommands};
pub use message::Spoken;
pub use prompts::{Filling, fill};
pub use words::quoted;
