//! Models of all services behind one trait, and one that needs no service.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `model` | what a model is asked, and what it answers | who answers |
//! | `tools` | the tools of a request, written once for each service | which tools there are |
//! | `offline` | the model that needs no service: it picks a tool by the words of a message | language |
//! | `error` | why there is no answer, by what can be done about it | retrying |
//! | `wire` | the protocols: requests written, answers read within bounds | connections, keys |
//! | `service` | a model of a service: one request and its answer | the protocols |
//! | `credentials` | what a provider is shown, got when it is needed | where a provider is |
//! | `retry`, `fallback` | asking again, asking another | services |
//! | `providers` | which models there are, and how each is reached | asking them |
//! | `chance` | numbers that nobody can foresee | |

mod chance;
mod credentials;
mod error;
mod fallback;
mod model;
mod offline;
mod providers;
mod retry;
mod service;
mod tools;
mod wire;

pub use error::ModelError;
pub use model::{
    Model, ModelEvent, ModelFacts, ModelListener, ModelReply, ModelRequest, PendingReply, Stop,
    SystemPrompt,
};
pub use offline::{LEADING, OfflineModel};
pub use providers::{ModelCredentials, ModelStanding, Models, ModelsSetup};
pub use tools::{Adapt, ToolDialect, ToolSet, ToolSpec};
