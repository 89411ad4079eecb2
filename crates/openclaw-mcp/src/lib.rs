//! Makes the tools of all servers the tools of an agent.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `approval` | when a person is asked, and what was answered | how a person is asked |
//! | `arguments` | whether arguments and results fit a tool | what models are told about it |
//! | `audit` | the log of all calls | what was said in them |
//! | `names` | what tools are called for models, and the way back | splitting names |
//! | `pins` | noticing that a tool's definition changed | deciding what follows |
//! | `policy` | which tools an agent may use | asking persons |
//! | `results` | long results, kept to be read on | which results are too long |
//! | `schema` | schemas that models take | checking arguments |
//! | `supervise` | keeping a server running, and knowing what it offers | who uses it |

mod approval;
mod arguments;
mod audit;
mod names;
mod pins;
mod policy;
mod results;
mod schema;
mod supervise;

pub use approval::{
    ApprovalAnswer, ApprovalDecision, ApprovalError, ApprovalNeed, ApprovalQuestion,
    ApprovalRequest, ApprovalRules, Approvals, Approver, Rejection, ShownArgument, decide_approval,
};
pub use arguments::{ArgumentCheck, InvalidArguments, OutputCheck, UnusableSchema, typed_words};
pub use audit::{AuditEntry, AuditLog, CallOutcome};
pub use names::{Lookup, NamedTool, QualifiedToolName, RESERVED, ToolKey, ToolNames, ToolSource};
pub use pins::{DefinitionHash, PinError, Pins, Verdict};
pub use policy::{Decision, Policy, ServerFilter};
pub use results::{
    READ_RESULT, ReadResultError, ReadResultTool, ResultId, ResultStore, StoredResult,
    answer_read_result, read_result_tool,
};
pub use schema::{SchemaDialect, SchemaError, schema_for_model};
pub use supervise::{
    Catalog, Fleet, ManagedServer, Pace, PendingTarget, Reconciled, ServerSetup, ServerState,
    Status, TargetSource, Unresolved, Wanted,
};
