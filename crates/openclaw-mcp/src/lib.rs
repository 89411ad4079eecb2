//! Makes the tools of all servers the tools of an agent.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `names` | what tools are called for models, and the way back | splitting names |
//! | `policy` | which tools an agent may use | asking persons |

mod names;
mod policy;

pub use names::{Lookup, NamedTool, QualifiedToolName, RESERVED, ToolKey, ToolNames, ToolSource};
pub use policy::{Decision, Policy, ServerFilter};
