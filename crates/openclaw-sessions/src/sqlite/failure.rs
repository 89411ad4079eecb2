//! What went wrong with the database, by what can be done about it.

use openclaw_content::shown_line;
use rusqlite::{Error, ErrorCode, ffi};

use super::place::StorePlace;
use crate::error::SessionError;

/// What went wrong with the database.
#[derive(Debug)]
pub(super) enum Failure {
    /// What SQLite says.
    Sqlite(Error),
    /// It is not what it should be.
    Damaged(&'static str),
    /// Another file lies at its path now, and work has to be done there.
    Replaced,
    /// A thread can't be started, or has ended.
    Thread,
    /// It is clear what to say.
    Known(SessionError),
}

/// Whether a piece of work wanted to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    Read,
    Write,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        Self::Known(error)
    }
}

impl Failure {
    /// Why the file is damaged, if that is what this says.
    pub(super) fn damage(&self) -> Option<&'static str> {
        match self {
            Self::Damaged(reason) => Some(reason),
            Self::Sqlite(Error::SqliteFailure(failure, _)) => match failure.code {
                ErrorCode::DatabaseCorrupt => Some("it is damaged"),
                ErrorCode::NotADatabase => Some("it is no database"),
                _ if failure.extended_code == ffi::SQLITE_IOERR_SHORT_READ => {
                    Some("a part of it is missing")
                }
                _ => None,
            },
            Self::Sqlite(_) | Self::Replaced | Self::Thread | Self::Known(_) => None,
        }
    }

    /// Whether somebody else only had it at the wrong moment.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self, Self::Sqlite(Error::SqliteFailure(failure, _))
            if matches!(failure.code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    /// What is said to those who asked.
    pub(super) fn into_error(self, place: &StorePlace, intent: Intent) -> SessionError {
        let (reason, is_about_writing) = match self {
            Self::Known(error) => return error,
            Self::Damaged(reason) => (reason.to_owned(), false),
            Self::Thread => ("a thread can't be started".to_owned(), false),
            Self::Replaced => ("it does not stay where it is".to_owned(), false),
            Self::Sqlite(Error::SqliteFailure(failure, text)) => {
                let text = text.unwrap_or_else(|| failure.to_string());
                match failure.code {
                    ErrorCode::DiskFull => ("the disk is full".to_owned(), true),
                    ErrorCode::ReadOnly => ("it is read-only".to_owned(), true),
                    ErrorCode::PermissionDenied | ErrorCode::CannotOpen => (
                        "it can't be opened: is there room on the disk, and may you write there?"
                            .to_owned(),
                        true,
                    ),
                    ErrorCode::SystemIoFailure => (
                        format!(
                            "the system can't read or write it (SQLite's code {})",
                            failure.extended_code
                        ),
                        true,
                    ),
                    ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                        ("another process does not stop writing".to_owned(), true)
                    }
                    _ => (shown_line(&text, 200), false),
                }
            }
            Self::Sqlite(other) => (shown_line(&other.to_string(), 200), false),
        };
        if is_about_writing && intent == Intent::Write {
            place.unwritable(reason)
        } else {
            place.unusable(reason)
        }
    }
}
