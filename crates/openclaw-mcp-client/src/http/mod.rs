//! Requests over HTTP: a shared pool, TLS, deadlines, limits, streams of events.
//!
//! | module | owns |
//! |---|---|
//! | `clients` | the pools of connections of one TLS setting |
//! | `kept` | connections without TLS, which need no pool |
//! | `connector` | how a connection is made: directly or over a proxy, with or without TLS |
//! | `endpoint` | one address with its fixed headers, requests and redirects |
//! | `answer` | what came back, by its content type |
//! | `events` | server-sent events, bounded |
//! | `error`, `failure` | what went wrong, by what the caller can do |

mod answer;
mod clients;
mod connector;
mod endpoint;
mod error;
mod events;
mod excerpt;
mod failure;
mod headers;
mod kept;
mod moved;
mod proxy;
mod reason;
mod redirect;
mod request_body;
mod retry_after;
mod stream;
mod tls;

#[cfg(test)]
mod tests;

pub(crate) use answer::{Answer, Body};
pub(crate) use clients::HttpClients;
pub(crate) use endpoint::HttpEndpoint;
pub(crate) use error::HttpError;
pub(crate) use events::EventStream;
pub use failure::HttpFailure;
pub use headers::HeaderError;
pub(crate) use headers::sensitive_authorization;
pub use tls::TlsError;
