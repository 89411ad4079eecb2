//! What is kept about the logins to one server: a file, its seal, its key, its lock.

mod record;
pub(crate) mod secret_text;

pub use record::{KeptClient, KeptGrant, KeptLogins, PendingLogin};
