//! Makes the tools of all servers the tools of an agent.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `servers` | the servers of a configuration, shared by all agents | one server's life |
//! | `supervise` | keeping a server running, and knowing what it offers | who uses it |
//! | `launch` | from a definition to something to connect to | connecting |
//! | `listening` | who hears what servers do | what is made of it |
//! | `logins` | the logins to servers: their tokens, shown and renewed | how OAuth works |
//! | `offering` | what a server offers, made ready once | who may use it |
//! | `assembly` | the tools of an agent at one moment | calling them |
//! | `call` | the way of a call, ending in an outcome | how messages travel |
//! | `names` | what tools are called for models, and the way back | splitting names |
//! | `policy` | which tools an agent may use | asking persons |
//! | `approval` | when a person is asked, and what was answered for good | how people are asked |
//! | `pins` | noticing that a tool's definition changed | deciding what follows |
//! | `schema` | schemas that models take | checking arguments |
//! | `arguments` | whether arguments and results fit a tool | what models are told about it |
//! | `own` | tools of our own, as models see them | what they do |
//! | `prompts` | prompts of servers, filled in for a model | who chose them |
//! | `redaction` | our own credentials, hidden in what servers say | which values are credentials |
//! | `resources` | resources of servers: read, listed, put beside messages, completed | framing |
//! | `results` | long results, kept to be read on | framing |
//! | `search` | finding tools by what they do, and what models are told about them | making calls |
//! | `audit` | the log of all calls | what was said in them |

mod approval;
mod arguments;
mod assembly;
mod audit;
mod call;
mod launch;
mod listening;
mod logins;
mod names;
mod offering;
mod own;
mod pins;
mod policy;
mod prompts;
mod redaction;
mod resources;
mod results;
mod schema;
mod search;
mod servers;
mod supervise;

pub use approval::{
    ApprovalAnswer, ApprovalDecision, ApprovalError, ApprovalNeed, ApprovalQuestion,
    ApprovalRequest, ApprovalRules, Approvals, Approver, Rejection, ShownArgument, decide_approval,
};
pub use arguments::{ArgumentCheck, InvalidArguments, OutputCheck, UnusableSchema, typed_words};
pub use assembly::{AgentTool, AgentTools, Meant};
pub use audit::{AuditEntry, AuditLog, AuditedCall, CallOutcome, recent_calls, written_moment};
pub use call::{ANEW_WITHIN, Approval, Call, CallEnd, Part, Persons, ToolChoice, ToolOutcome};
pub use listening::ServersListener;
pub use logins::ServerLogin;
pub use names::{Lookup, NamedTool, QualifiedToolName, RESERVED, ToolKey, ToolNames, ToolSource};
pub use offering::{Offering, PreparedTool};
pub use own::OwnTool;
pub use pins::{DefinitionHash, PinError, Pins, Verdict};
pub use policy::{Decision, Policy, ServerFilter};
pub use prompts::{PromptCall, PromptError};
pub use redaction::{hide_content, hide_embedded, hide_text, hide_value};
pub use resources::{Injection, LIST_RESOURCES, READ_RESOURCE, TypedVariable, typed_variable};
pub use results::{
    READ_RESULT, ReadResultError, ResultId, ResultStore, StoredResult, answer_read_result,
    read_result_tool,
};
pub use schema::{SchemaDialect, SchemaError, schema_for_model};
pub use search::{
    CALL_TOOL, DESCRIBE_TOOL, SEARCH_TOOLS, call_tool_tool, describe_tool_tool, search_tools_tool,
};
pub use servers::{
    AgentPlan, CheckedSecret, LentServer, LoginError, PlannedServer, ServerView, Servers,
    ServersError, ServersSetup, Standing, StartMode, Taken, UnknownAgent, Unneeded,
};
pub use supervise::{
    Catalog, Fleet, LoginWatch, ManagedServer, Pace, PendingTarget, Reconciled, Remedy,
    ServerSetup, ServerState, StateListener, Status, TargetSource, Unresolved, Wanted,
};
