//! Finding tools: what a model has instead of all definitions, where those are too many.
//!
//! | module | owns |
//! |---|---|
//! | `definitions` | the three tools, as models see them |
//! | `arguments` | what models write when they call them |
//! | `index` | the tools of an agent, ready to be searched |
//! | `near` | tools with names like one that there is not |
//! | `answers` | what models are told |

mod answers;
mod arguments;
mod definitions;
mod index;
mod near;

pub(crate) use answers::{Found, answer_describe, answer_search, suggestion};
pub(crate) use arguments::through;
pub use definitions::{
    CALL_TOOL, DESCRIBE_TOOL, SEARCH_TOOLS, call_tool_tool, describe_tool_tool, search_tools_tool,
};
pub(crate) use index::{Hits, ToolIndex};
