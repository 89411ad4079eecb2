//! Changing the file in place: comments, order and style stay, nothing is lost.

mod style;
mod text;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use openclaw_state::{
    Access, FileLock, LockError, ReadError, StateDirectory, StateDirectoryError, WriteError,
    check_replaceable, layout, read_bounded, replace,
};
use ring::digest::{SHA256, digest};
use serde_json::{Map, Value as Json};
use thiserror::Error;

use crate::environment::Environment;
use crate::load::load_text;
use crate::location::Location;
use crate::place::Place;
use crate::report::Report;
use crate::server::ServerName;

/// How long another process's edit is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
const LARGEST: u64 = 8_000_000;

/// A change of one server of `mcp.servers`, the only place that is written to.
#[derive(Clone, Debug)]
pub enum ServerEdit {
    /// Adds a server that is not there yet.
    Add(ServerName, Map<String, Json>),
    /// Gives a server another definition; fields that stay the same are not touched.
    Change(ServerName, Map<String, Json>),
    /// Removes a server.
    Remove(ServerName),
}

impl ServerEdit {
    /// The server that is changed.
    pub fn name(&self) -> &ServerName {
        match self {
            Self::Add(name, _) | Self::Change(name, _) | Self::Remove(name) => name,
        }
    }
}

/// Why the file was not changed; it is as it was.
#[derive(Debug, Error)]
pub enum EditError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It is not text.
    #[error("{} is not UTF-8 text", .0.display())]
    NotText(PathBuf),
    /// It has mistakes that must be fixed first.
    #[error("{} has errors: run `openclaw config validate` and fix them first", .0.display())]
    Unsound(PathBuf, Box<Report>),
    /// The server is there already.
    #[error("there is a server `{0}` already")]
    Exists(ServerName),
    /// The server is not there.
    #[error("there is no server `{0}` in `mcp.servers`")]
    Unknown(ServerName),
    /// The server stands where we don't write.
    #[error("the server `{name}` stands in {place}: change it there")]
    Elsewhere {
        /// The server.
        name: ServerName,
        /// Where it is.
        place: String,
    },
    /// The new definition has mistakes.
    #[error("the definition of `{0}` has errors")]
    Rejected(ServerName, Box<Report>),
    /// The change would have changed more than it should.
    #[error("{} has a form that cannot be edited safely: change it by hand", .0.display())]
    TooStrange(PathBuf),
    /// Somebody else changed the file meanwhile.
    #[error("{} was changed by another program just now: try again", .0.display())]
    Concurrent(PathBuf),
    /// Another process of ours is at it and does not end.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The state directory cannot be used.
    #[error(transparent)]
    State(#[from] StateDirectoryError),
    /// Its directory cannot be made.
    #[error("cannot create {}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// The configuration file, locked against other edits of ours.
#[derive(Debug)]
pub struct Editor<'a> {
    location: &'a Location,
    environment: &'a Environment,
    state: &'a StateDirectory,
    /// The file as it was found; `None` where there was none.
    before: Option<Vec<u8>>,
    _lock: FileLock,
}

impl<'a> Editor<'a> {
    /// Locks the configuration and reads it.
    pub fn open(
        location: &'a Location,
        environment: &'a Environment,
        state: &'a StateDirectory,
    ) -> Result<Self, EditError> {
        let lock = FileLock::acquire(&state.file(layout::CONFIG_LOCK)?, PATIENCE)?;
        Ok(Self {
            location,
            environment,
            state,
            before: read(&location.config)?,
            _lock: lock,
        })
    }

    /// The definition of a server that the change would replace, as it is written.
    pub fn server(&self, name: &ServerName) -> Option<Json> {
        written(self.before.as_deref()?, name)
    }

    /// Makes the change, or leaves the file as it is.
    pub fn apply(self, edit: &ServerEdit) -> Result<(), EditError> {
        let path = &self.location.config;
        let bytes = self.before.as_deref().unwrap_or(b"{}\n");
        let text = str::from_utf8(bytes).map_err(|_| EditError::NotText(path.clone()))?;
        // A byte order mark stays where it is.
        let (mark, text) = match text.strip_prefix('\u{feff}') {
            Some(rest) => ("\u{feff}", rest),
            None => ("", text),
        };
        self.check_possible(text, edit)?;
        let after = text::edit(text, edit).ok_or_else(|| EditError::TooStrange(path.clone()))?;
        self.check_result(&after, edit)?;
        self.commit(format!("{mark}{after}").as_bytes())
    }

    /// Makes sure that the file is sound and that the server is where it should be.
    fn check_possible(&self, text: &str, edit: &ServerEdit) -> Result<(), EditError> {
        let loaded = load_text(text.to_owned(), self.location, self.environment);
        let Some(config) = loaded.config else {
            let path = self.location.config.clone();
            return Err(EditError::Unsound(path, Box::new(loaded.report)));
        };
        let name = edit.name();
        let here = text::has_server(text, name);
        let elsewhere = config.agents.values().find_map(|agent| {
            let configured = agent.servers.get(name.as_str())?;
            Some(match configured.place {
                Place::Mcp => "an included file".to_owned(),
                ref place => place.to_string(),
            })
        });
        match (edit, here, elsewhere) {
            (ServerEdit::Add(..), true, _) => Err(EditError::Exists(name.clone())),
            (_, false, Some(place)) => Err(EditError::Elsewhere {
                name: name.clone(),
                place,
            }),
            (ServerEdit::Change(..) | ServerEdit::Remove(_), false, None) => {
                Err(EditError::Unknown(name.clone()))
            }
            _ => Ok(()),
        }
    }

    /// Makes sure that the new text is sound where it was changed.
    fn check_result(&self, text: &str, edit: &ServerEdit) -> Result<(), EditError> {
        let loaded = load_text(text.to_owned(), self.location, self.environment);
        let name = edit.name();
        let rejected = loaded
            .report
            .errors()
            .any(|problem| problem.server() == Some(name.as_str()));
        if rejected && !matches!(edit, ServerEdit::Remove(_)) {
            return Err(EditError::Rejected(name.clone(), Box::new(loaded.report)));
        }
        if loaded.config.is_none() {
            return Err(EditError::TooStrange(self.location.config.clone()));
        }
        Ok(())
    }

    /// Puts the new contents in place of those that were found, if those are still there.
    fn commit(&self, after: &[u8]) -> Result<(), EditError> {
        let path = &self.location.config;
        if self.before.as_deref() == Some(after) {
            return Ok(());
        }
        // Before anything is done, so that a change that can't be made costs no copy.
        self.check_unchanged()?;
        check_replaceable(path)?;
        match &self.before {
            Some(before) => self.back_up(before)?,
            None => self.create_directory()?,
        }
        self.check_unchanged()?;
        Ok(replace(path, after, Access::AsBefore)?)
    }

    fn check_unchanged(&self) -> Result<(), EditError> {
        let path = &self.location.config;
        if read(path)? == self.before {
            Ok(())
        } else {
            Err(EditError::Concurrent(path.clone()))
        }
    }

    fn create_directory(&self) -> Result<(), EditError> {
        if let Some(parent) = self.location.config.parent() {
            fs::create_dir_all(parent).map_err(|error| EditError::Directory {
                path: parent.to_owned(),
                source: error,
            })?;
        }
        Ok(())
    }

    /// Keeps a copy of what is about to be replaced, and only the newest few.
    fn back_up(&self, before: &[u8]) -> Result<(), EditError> {
        // Files of the same name in other directories have copies of their own.
        let path = self.location.config.as_os_str().as_encoded_bytes();
        let digest = digest(&SHA256, path);
        let which: String = digest.as_ref()[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let name = |number: usize| {
            let relative = format!("{}/{which}/openclaw.json.{number}", layout::CONFIG_BACKUPS);
            self.state.file(&relative)
        };
        if read(&name(1)?)?.as_deref() == Some(before) {
            return Ok(());
        }
        for number in (1..layout::CONFIG_BACKUPS_KEEP).rev() {
            // A copy that can't be moved is one copy less, not a reason to refuse the edit.
            let _ = fs::rename(name(number)?, name(number + 1)?);
        }
        Ok(replace(&name(1)?, before, Access::Private)?)
    }
}

/// The definition of a server in `mcp.servers` of the file itself, as it is written: nothing in it
/// is expanded or checked.
pub fn written_server(location: &Location, name: &ServerName) -> Option<Json> {
    written(&read(&location.config).ok()??, name)
}

fn written(bytes: &[u8], name: &ServerName) -> Option<Json> {
    let text = str::from_utf8(bytes).ok()?;
    text::server(text.trim_start_matches('\u{feff}'), name)
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, EditError> {
    match read_bounded(path, LARGEST) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(ReadError::Missing(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
