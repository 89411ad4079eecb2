//! Keeps what must outlive a process: the state directory and the files in it.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `directory` | creating the state directory, its permissions | what the files in it mean |
//! | `layout` | the name, quota and format version of each kind of file | reading or writing them |
//! | `versioned` | JSON files with a format version, migration, setting corrupt ones aside | any one format |
//! | `replace` | writing a file whole or not at all | |
//! | `read` | reading a file with a limit, never waiting | decoding |
//! | `rotate` | append-only files with a quota, shared by processes | formatting of lines |
//! | `newest` | the last lines of those files | what they mean |
//! | `lock` | locks between processes | |
//! | `key` | the random key of a state directory | what is hashed with it |
//! | `other` | recognising the TypeScript OpenClaw | touching its files |

mod directory;
mod key;
pub mod layout;
mod lock;
mod newest;
mod other;
mod read;
mod replace;
mod rotate;
mod versioned;

pub use directory::{StateDirectory, StateDirectoryError};
pub use key::{StateKey, StateKeyError};
pub use lock::{FileLock, LockError};
pub use newest::newest_lines;
pub use other::other_openclaw;
pub use read::{ReadError, read_bounded};
pub use replace::{Access, WriteError, check_replaceable, rehearse, replace};
pub use rotate::RotatedFile;
pub use versioned::{Versioned, VersionedError, load, set_aside, store};
