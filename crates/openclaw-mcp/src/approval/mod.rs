//! Asking a person before a tool runs.
//!
//! A model acts on what it read, and what it read may want something else than its person does. So
//! what may change something waits for a word of the person, where there is one.

mod decide;
mod question;
mod rules;
mod store;

pub use decide::{ApprovalDecision, ApprovalRequest, Rejection, decide_approval};
pub(crate) use decide::{ReadingRequest, decide_reading};
pub use question::{ApprovalAnswer, ApprovalQuestion, Approver, ShownArgument};
pub use rules::{ApprovalNeed, ApprovalRules};
pub use store::{ApprovalError, Approvals};
