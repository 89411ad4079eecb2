//! What is kept about the logins to one server: a file, its seal, its key, its lock.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `record` | what is kept | how |
//! | `secret_text` | secrets as texts in it | |
//! | `seal` | turning bytes into bytes that only the key opens | files |
//! | `sealed_file` | the file, and what can be wrong with it | where the key comes from |
//! | `key` | the key: in the keyring or in a file, made once | what is sealed |
//! | `stamp` | whether a file is still the one that was read | |
//! | `wait` | waiting for the disk and for other processes | |
//! | `server` | reading and changing what is kept, one at a time | requests |
//! | `store` | the logins of a state directory | |
//! | `tidy` | what nobody needs any more beside it | what is kept |
//! | `remark` | what a person should know about it | |

mod hexadecimal;
mod key;
mod record;
mod remark;
mod seal;
mod sealed_file;
pub(crate) mod secret_text;
mod server;
mod stamp;
mod store;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;
mod tidy;
mod wait;

pub(crate) use record::{Confidant, KeptClient, KeptGrant, KeptLogins, OWN_ACCOUNT, PendingLogin};
pub use remark::Remark;
pub(crate) use server::{Changing, ServerLogins, Taken};
pub(crate) use stamp::Stamp;
pub use store::LoginStore;
