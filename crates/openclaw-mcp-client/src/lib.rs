//! Holds one MCP server: reaches it over any transport, speaks any revision of the protocol, and
//! survives whatever it does.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `target` | what is connected to, credentials resolved | where that was configured |
//! | `authorize` | how we prove who we are, request by request | where tokens come from |
//! | `connect` | the ladder of transports and eras, and what is remembered of it | requests |
//! | `connection` | a connection as the rest of the program sees it | how messages travel |
//! | `session` | requests in either era: sent, waited for, given up on; lists, rounds, changes | bytes |
//! | `transport` | the three ways to a server | what messages mean |
//! | `traffic` | requests in flight, and what a server says on its own | how messages travel |
//! | `wire` | JSON-RPC messages, read leniently | what they are about |
//! | `model` | what servers offer and answer, read leniently | judging it |
//! | `http` | requests over HTTP: pool, TLS, deadlines, limits, streams of events | the protocol |
//! | `person` | whom a server may ask something | asking |
//! | `text`, `time` | foreign text fit to be shown; moments that can be reached | |

mod authorize;
mod connect;
mod connection;
mod error;
mod http;
mod model;
mod person;
mod session;
mod target;
mod tasks;
mod text;
mod time;
mod traffic;
mod transport;
mod wire;

pub use authorize::{Authorizer, Bearer, NoBearer, PendingBearer, PendingVerdict, Verdict};
pub use connect::{Connector, EraMemory, RememberedEra};
pub use connection::{CallOptions, Connection, Diagnostics, Transport};
pub use error::{ConnectError, Outcome, RequestError, Unauthorized, UnknownOutcome};
pub use http::{HeaderError, HttpFailure, TlsError};
pub use model::{
    Capabilities, Completion, CompletionTarget, Content, Dropped, Embedded, Listing, Prompt,
    PromptArgument, PromptMessage, PromptResult, Resource, ResourceContents, ResourceTemplate,
    ServerInfo, Tool, ToolAnnotations, ToolResult, Truncation,
};
pub use person::{Elicitation, ElicitationAnswer, PendingAnswer, Person};
pub use session::Era;
pub use target::{
    AddressTarget, Authorization, ClientIdentity, Endpoint, FirstTransport, ProgramTarget,
    Protocol, Target, Timeouts, TlsSettings,
};
pub use traffic::{Changes, Progress, ProgressListener, ResourceVersion};
pub use wire::RpcError;
