//! The agent: a model, its tools and its sessions, turn by turn.
//!
//! ```text
//! message → session (alone) → servers → rounds: model → calls → answers → … → reply
//! ```
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `agents` | everything that agents share; which agent, session and model a request means | the turn |
//! | `turn` | one turn: rounds of the model and its calls, kept as they happen | how a model is asked |
//! | `calls` | the calls of one message, made side by side | the way of a call |
//! | `tools` | the tools of an agent as a model sees them | which tools there are |
//! | `prompt` | what a model is told it is | what was said |
//! | `history` | what was said before, made fit for a model | keeping it |
//! | `compaction` | conversations that are too long for a model | sessions |
//! | `attachments` | what comes with a message | reading files |
//! | `error` | why there is no reply | |

mod agents;
mod attachments;
mod calls;
mod compaction;
mod error;
mod history;
mod prompt;
mod tools;
mod turn;

pub use agents::{Agents, AgentsSetup};
pub use error::TurnError;
