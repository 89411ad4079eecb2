//! What is kept of a session beside what was said in it: a small file for each.

use std::error::Error;
use std::fs;
use std::io::{self, ErrorKind};
use std::iter::successors;
use std::path::{Path, PathBuf};
use std::time::Duration;

use openclaw_state::layout::EDITORS;
use openclaw_state::{StateDirectory, Versioned, load, store};
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::session::Session;
use crate::identifier::Identifier;
use crate::office::Office;

/// How long a record is kept of a session that nothing is kept of: nothing was said in it yet, or it was
/// deleted.
const UNUSED: Duration = Duration::from_hours(7 * 24);

/// How long a disk is waited for.
const FILES: Duration = Duration::from_secs(2);

/// What is kept of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    /// The project.
    pub(super) directory: String,
    /// What the session is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    /// The agent that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<String>,
    /// Its whole name at the engine, once that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
}

impl Versioned for Record {
    const FORMAT: &'static str = "editor-session";
    const VERSION: u32 = 1;
    const LIMIT: u64 = 64 * 1024;
}

impl Record {
    /// What is kept of a session; none if nothing that can be used is.
    pub(super) fn read(state: &Path, id: &Identifier) -> Option<Self> {
        match load(&path(state, id)) {
            Ok(record) => record,
            Err(error) => {
                let kind = kind(&error);
                tracing::warn!(kind, "the record of a session can't be used");
                None
            }
        }
    }

    /// Forgets what is kept of a session.
    pub(super) fn remove(state: &Path, id: &Identifier) -> io::Result<()> {
        match fs::remove_file(path(state, id)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Forgets sessions that nothing was kept of for long.
    pub(super) fn prune(state: &Path, is_kept: impl Fn(&Identifier) -> bool) {
        let Ok(files) = fs::read_dir(state.join(EDITORS)) else {
            return;
        };
        for file in files.flatten() {
            let path = file.path();
            let name = path.file_stem().and_then(|name| name.to_str());
            let Some(id) = name.and_then(Identifier::parse) else {
                continue;
            };
            let written = file.metadata().and_then(|data| data.modified());
            let age = written.ok().and_then(|written| written.elapsed().ok());
            if age.is_some_and(|age| age > UNUSED) && !is_kept(&id) {
                // Another process may have done it.
                let _ = fs::remove_file(&path);
            }
        }
    }

    fn write(&self, state: &StateDirectory, id: &Identifier) -> Result<(), String> {
        let file = state.file(&format!("{EDITORS}/{id}.json"));
        let file = file.map_err(|error| kind(&error))?;
        store(&file, self).map_err(|error| kind(&error))
    }
}

/// Where the record of a session is. An identifier is nothing but digits, and never leads elsewhere.
fn path(state: &Path, id: &Identifier) -> PathBuf {
    state.join(EDITORS).join(format!("{id}.json"))
}

/// What kind of failure it is. Whatever says more names the file, and with it the session.
fn kind(error: &(dyn Error + 'static)) -> String {
    let causes = successors(Some(error), |error| (*error).source());
    let mut kinds = causes.filter_map(|error| error.downcast_ref::<io::Error>());
    let kind = kinds.next().map(|error| error.kind().to_string());
    kind.unwrap_or_else(|| "it is damaged, or not ours".to_owned())
}

/// Does something with files where that holds up nobody for long; nothing comes of it if that fails badly or
/// takes too long, in which case it may still be done later.
pub(super) async fn with_files<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    timeout(FILES, spawn_blocking(work)).await.ok()?.ok()
}

impl Office {
    /// What is kept of a session.
    pub(super) async fn read_record(&self, id: &Identifier) -> Option<Record> {
        let (state, id) = (self.state_path().to_owned(), id.clone());
        with_files(move || Record::read(&state, &id)).await?
    }

    /// Keeps what is to be kept of a session.
    pub(crate) async fn keep_record(&self, session: &Session) {
        let (record, state) = (session.record(), self.state.clone());
        let id = session.id.clone();
        let written = with_files(move || record.write(&state, &id)).await;
        let why = match written {
            Some(Ok(())) => return,
            Some(Err(kind)) => kind,
            None => "the disk takes too long".to_owned(),
        };
        tracing::warn!(why, "the record of a session can't be kept");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_only_by_its_owner() {
        let directory = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(&directory.path().join("state")).unwrap();
        let id = Identifier::random().unwrap();
        assert_eq!(Record::read(state.path(), &id), None);
        let record = Record {
            directory: "/project".to_owned(),
            title: Some("a title".to_owned()),
            ..Record::default()
        };
        record.write(&state, &id).unwrap();
        assert_eq!(Record::read(state.path(), &id), Some(record));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(path(state.path(), &id)).unwrap().permissions();
            assert_eq!(mode.mode() & 0o777, 0o600);
        }
        Record::remove(state.path(), &id).unwrap();
        Record::remove(state.path(), &id).unwrap();
        assert_eq!(Record::read(state.path(), &id), None);
    }

    #[test]
    fn what_nothing_was_kept_of_for_long_is_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(&directory.path().join("state")).unwrap();
        let [kept, old, new] = [(); 3].map(|()| Identifier::random().unwrap());
        for id in [&kept, &old, &new] {
            Record::default().write(&state, id).unwrap();
        }
        for id in [&kept, &old] {
            let file = fs::File::open(path(state.path(), id)).unwrap();
            let long_ago = std::time::SystemTime::now() - 2 * UNUSED;
            file.set_modified(long_ago).unwrap();
        }
        Record::prune(state.path(), |id| *id == kept);
        let is_there = |id: &Identifier| path(state.path(), id).exists();
        assert!(is_there(&kept) && is_there(&new) && !is_there(&old));
    }

    #[test]
    fn what_went_wrong_is_said_without_the_name_of_the_session() {
        let directory = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(&directory.path().join("state")).unwrap();
        let id = Identifier::random().unwrap();
        fs::create_dir_all(path(state.path(), &id)).unwrap();
        let why = Record::default().write(&state, &id).unwrap_err();
        assert!(!why.is_empty() && !why.contains(id.as_str()), "{why}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_disk_that_does_not_answer_is_not_waited_for() {
        let (release, held) = std::sync::mpsc::channel::<()>();
        // The clock goes on by itself only while no thread works.
        let done = tokio::spawn(with_files(move || held.recv().is_ok()));
        tokio::task::yield_now().await;
        tokio::time::advance(2 * FILES).await;
        assert_eq!(done.await.unwrap(), None);
        release.send(()).unwrap();
    }

    #[test]
    fn what_is_damaged_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let id = Identifier::random().unwrap();
        let file = path(directory.path(), &id);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        for contents in ["{", "{}", &" ".repeat(100_000)] {
            fs::write(&file, contents).unwrap();
            assert_eq!(Record::read(directory.path(), &id), None);
        }
    }
}
