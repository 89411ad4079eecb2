//! The agent: a model, its tools and its sessions, turn by turn.
//!
//! ```text
//! message → session (alone) → servers → rounds: model → calls → answers → … → reply
//! ```
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `agents` | everything that agents share; which agent, session and model a request means | the turn |
//! | `turn` | one turn: rounds of the model and its calls, kept as they happen; what stands beside the message | how a model is asked |
//! | `calls` | the calls of one message, made side by side | the way of a call |
//! | `dispatch` | calls that a person asks for by a command | |
//! | `person` | the person behind the calls: asked by servers, told of progress | how people are asked |
//! | `forms` | what servers ask persons for, read from schemas | showing it |
//! | `tools` | the tools of an agent as a model sees them | which tools there are |
//! | `skills` | the skills of an agent, named to its model and read by it | finding them |
//! | `prompt` | what a model is told it is | what was said |
//! | `history` | what was said before, made fit for a model | keeping it |
//! | `compaction` | conversations that are too long for a model | sessions |
//! | `attachments` | what comes with a message, as parts of it: text framed, the rest beside what it says | how files are put into words |
//! | `error` | why there is no reply | |

mod agents;
mod attachments;
mod calls;
mod compaction;
mod dispatch;
mod error;
mod forms;
mod history;
mod person;
mod prompt;
mod skills;
mod tools;
mod turn;

pub use agents::{Agents, AgentsSetup};
pub use dispatch::Dispatched;
pub use error::TurnError;
