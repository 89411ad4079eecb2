//! What a person should know about how logins are kept.

use std::fmt;
use std::path::PathBuf;

/// What a person should know about how logins are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
    /// The key is in a file beside what it seals.
    KeyInFile {
        /// The file.
        path: PathBuf,
        /// Why it is not in a keyring, where that is known.
        reason: Option<String>,
    },
}

impl fmt::Display for Remark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyInFile { path, reason } => {
                write!(
                    formatter,
                    "the key to saved logins is in the file {}, and not in a keyring",
                    path.display()
                )?;
                match reason {
                    Some(reason) => write!(formatter, ": {reason}"),
                    None => Ok(()),
                }
            }
        }
    }
}
