//! JSON-RPC messages: read leniently, written exactly, results left as they came.

mod error;
mod incoming;
mod items;
mod outgoing;
mod raw;

pub use error::RpcError;
pub(crate) use incoming::{Incoming, ReplyId, ServerRequestId, read_messages};
pub(crate) use items::{Listed, first_items};
pub(crate) use outgoing::{error_reply, notification, reply, request};
pub(crate) use raw::RawJson;

/// How many bytes a message of a server may have, on every transport.
pub(crate) const MESSAGE_LIMIT: usize = 80 * 1024 * 1024;
