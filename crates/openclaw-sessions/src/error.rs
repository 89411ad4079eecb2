//! Why a session can't be had.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

/// Why a session can't be had, or something can't be kept in it.
#[derive(Debug, Error)]
pub enum SessionError {
    /// Another turn of the session runs, here or in another process.
    #[error(
        "the session is in use: {} s were waited for another turn of it to end",
        waited.as_secs()
    )]
    InUse {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The store is of a newer version of this program.
    #[error(
        "{} was written by a newer version of openclaw (format {found}, this one knows {known}): \
         update openclaw, or use another state directory with OPENCLAW_STATE_DIR",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// A message is larger than what a session keeps.
    #[error("a message of {bytes} bytes is too large to be kept: the most is {limit}")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The most.
        limit: u64,
    },
    /// Nothing can be written.
    #[error("the session can't be saved in {}: {reason}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The store can't be used.
    #[error("the sessions in {} can't be used: {reason}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}
