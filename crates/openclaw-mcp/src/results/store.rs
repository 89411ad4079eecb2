//! Where long results are kept.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use openclaw_state::{Access, StateDirectory, StateKey, StateKeyError, layout, replace};
use ring::hmac;
use thiserror::Error;

use super::file::{self, FileError, Opened};
use super::id::ResultId;
use super::prune::{Quota, prune};

/// How long each text is kept.
const AGE: Duration = Duration::from_hours(layout::RESULTS_DAYS * 24);
/// How often it is looked for what is too old.
const PRUNED_EVERY: Duration = Duration::from_mins(10);
/// How many bytes of a hash are written.
const HASH: usize = 16;

/// The whole texts of results that were cut.
///
/// All calls read or write files: in a task they belong where blocking is allowed.
#[derive(Debug)]
pub struct ResultStore {
    directory: PathBuf,
    key: hmac::Key,
    quota: Quota,
    largest: u64,
    pruned: Mutex<Option<Pruned>>,
}

/// What is known since it was looked for what is too old or too much.
#[derive(Clone, Copy, Debug)]
struct Pruned {
    when: SystemTime,
    /// How many bytes there are, as far as this process knows.
    bytes: u64,
}

/// A part of a kept result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResult {
    /// The server that sent it.
    pub server: String,
    /// The tool that gave it.
    pub tool: String,
    /// The part of the text that was asked for, as the server sent it.
    pub text: String,
    /// The first byte of the part.
    pub start: u64,
    /// How many bytes the whole text has.
    pub total: u64,
}

impl StoredResult {
    /// The first byte behind the part: where to read on.
    pub fn end(&self) -> u64 {
        self.start + self.text.len() as u64
    }
}

/// Why a result can't be read.
#[derive(Debug, Error)]
pub enum ReadResultError {
    /// No result has such a name.
    #[error("this is not the id of a result")]
    NotAnId,
    /// It was deleted, or never there, or it is not for this agent and session. Which of these
    /// is not said.
    #[error("there is no such result, or no longer")]
    Missing,
    /// The text ends before.
    #[error("the result ends at byte {total}")]
    PastEnd {
        /// How many bytes it has.
        total: u64,
    },
    /// A newer program wrote it.
    #[error("the result was kept by a newer openclaw (version {0} of its format): update openclaw")]
    Newer(u32),
    /// The file is not what we wrote.
    #[error("the kept result is damaged: {0}")]
    Corrupt(&'static str),
    /// The file can't be read.
    #[error("the kept result can't be read: {0}")]
    Io(#[from] io::Error),
}

impl From<FileError> for ReadResultError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io(error) if error.kind() == io::ErrorKind::NotFound => Self::Missing,
            FileError::Io(error) => Self::Io(error),
            FileError::Corrupt(reason) => Self::Corrupt(reason),
            FileError::Newer(version) => Self::Newer(version),
        }
    }
}

impl ResultStore {
    /// The store of a state directory.
    pub fn new(directory: &StateDirectory) -> Result<Self, StateKeyError> {
        let key = StateKey::of(directory)?;
        let root = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
        // Not the key itself: the same session has another hash here than in the audit log.
        let own = hmac::sign(&root, b"openclaw results 1");
        Ok(Self {
            directory: directory.path().join(layout::RESULTS),
            key: hmac::Key::new(hmac::HMAC_SHA256, own.as_ref()),
            quota: Quota {
                age: AGE,
                bytes: layout::RESULTS_LIMIT,
            },
            largest: layout::RESULT_LIMIT,
            pruned: Mutex::new(None),
        })
    }

    /// Keeps a text for an agent, and where there is a session, for that session alone. The origin
    /// is the server and its tool. Makes room for it first.
    pub fn keep(
        &self,
        agent: &str,
        session: Option<&str>,
        origin: (&str, &str),
        text: &str,
        now: SystemTime,
    ) -> io::Result<ResultId> {
        if text.len() as u64 > self.largest {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("a text of more than {} bytes is not kept", self.largest),
            ));
        }
        let id = ResultId::random()?;
        let owner = self.owner(id, agent, session);
        let contents = file::contents(written(&owner), origin, text)?;
        private_directory(&self.directory)?;
        self.make_room(contents.len() as u64, now)?;
        let path = self.directory.join(id.file_name());
        match replace(&path, &contents, Access::Private) {
            Err(error) if !error.is_replaced() => Err(error.source),
            _ => Ok(id),
        }
    }

    /// Reads a part of a text: from a byte, or from the character that this byte belongs to, at
    /// most so many bytes, but at least one character. No more than the part is read into memory.
    pub fn read(
        &self,
        agent: &str,
        session: Option<&str>,
        id: &str,
        offset: u64,
        most: usize,
        now: SystemTime,
    ) -> Result<StoredResult, ReadResultError> {
        let id = ResultId::parse(id).ok_or(ReadResultError::NotAnId)?;
        let mut opened = Opened::open(&self.directory.join(id.file_name()))?;
        // A text without a session is for all sessions of its agent.
        let mut owners = [session, None]
            .map(|session| self.owner(id, agent, session))
            .into_iter();
        let is_owner = owners.any(|owner| written(&owner) == opened.header.owner);
        let age = now.duration_since(opened.modified).unwrap_or_default();
        if !is_owner || age > self.quota.age {
            return Err(ReadResultError::Missing);
        }
        let total = opened.header.bytes;
        if offset > 0 && offset >= total {
            return Err(ReadResultError::PastEnd { total });
        }
        let (start, text) = opened.part(offset, most)?;
        Ok(StoredResult {
            server: opened.header.server,
            tool: opened.header.tool,
            text,
            start,
            total,
        })
    }

    /// Deletes what is too old, at times, and what is too much, always.
    fn make_room(&self, coming: u64, now: SystemTime) -> io::Result<()> {
        let mut pruned = self.pruned.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |known: &Pruned| {
            let since = now.duration_since(known.when).unwrap_or_default();
            since < PRUNED_EVERY && known.bytes.saturating_add(coming) <= self.quota.bytes
        };
        let left = match pruned.filter(fits) {
            Some(known) => known,
            None => {
                let quota = Quota {
                    bytes: self.quota.bytes.saturating_sub(coming),
                    ..self.quota
                };
                Pruned {
                    when: now,
                    bytes: prune(&self.directory, quota, now)?,
                }
            }
        };
        *pruned = Some(Pruned {
            bytes: left.bytes.saturating_add(coming),
            ..left
        });
        Ok(())
    }

    /// Who may read a result. Different for each result, so that nobody sees which ones belong to
    /// one session.
    fn owner(&self, id: ResultId, agent: &str, session: Option<&str>) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.key);
        context.update(id.as_bytes());
        context.update(&(agent.len() as u64).to_le_bytes());
        context.update(agent.as_bytes());
        context.update(&[u8::from(session.is_some())]);
        context.update(session.unwrap_or_default().as_bytes());
        context.sign()
    }
}

fn written(tag: &hmac::Tag) -> String {
    let bytes = tag.as_ref().iter().take(HASH);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// Makes the directory, for its owner alone. It may be deleted while we run.
fn private_directory(path: &std::path::Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(path)
}

#[cfg(test)]
mod tests;
