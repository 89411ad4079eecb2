//! Logs in to servers that ask who we are (OAuth 2.1), and keeps what was granted: found out how,
//! asked for, stored under a seal, renewed before it expires, given to nobody else.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `resource` | what a server's configuration says about logging in | what the server says |
//! | `client` | who we are to an authorization server | how it was found |
//! | `error` | why there is no token, by what can be done about it | what an authorization server said, uncleaned |
//! | `kept` | what is kept about logins: the file, its seal, its key, its lock | requests |

mod client;
mod error;
mod kept;
mod resource;

pub use client::{Authentication, Client, Registration};
pub use error::{OAuthError, Remedy};
pub use kept::{KeptClient, KeptGrant, KeptLogins, PendingLogin};
pub use resource::{ConfiguredKeys, Grant, KeysSource, PendingKeys, Redirect, Resource};
