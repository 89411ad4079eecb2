//! Where a recording lies while a program listens to it: nowhere else, and no longer.

use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use openclaw_state::layout::{TRANSCRIPTION, TRANSCRIPTION_LOCK};
use openclaw_state::{FileLock, StateDirectory, read_bounded};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use crate::transcription::{Recording, TRANSCRIPT_LIMIT};

/// With which the names of the directories begin.
const PREFIX: &str = "recording-";
/// Locked for as long as a directory is used, so that others know.
const HELD: &str = "held";
/// Where programs write.
const OUTPUT: &str = "output";
/// How long others may take to make a directory or to sweep.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often removing is tried: a program that was just killed may still write.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// A directory with a recording. It is gone when this is dropped; where this process is killed, when
/// the next one is made, or the next process [sweeps](sweep_unused).
pub(super) struct Scratch {
    file: PathBuf,
    directory: PathBuf,
    // Dropped in this order: who finds the lock free may remove the directory.
    _whole: Whole,
    _held: File,
}

impl Scratch {
    /// Makes one, and removes what others left who were killed.
    pub(super) async fn new(state: &StateDirectory, recording: Recording<'_>) -> io::Result<Self> {
        let state = state.clone();
        let name = recording.file_name();
        let bytes = recording.bytes;
        let made = spawn_blocking(move || Self::make(&state, &name, &bytes));
        made.await.map_err(io::Error::other)?
    }

    fn make(state: &StateDirectory, name: &str, bytes: &[u8]) -> io::Result<Self> {
        let lock = state.file(TRANSCRIPTION_LOCK).map_err(io::Error::other)?;
        let place = state.path().join(TRANSCRIPTION);
        // One that is not held yet must not be taken for one that is no longer held.
        let alone = FileLock::acquire(&lock, PATIENCE).map_err(io::Error::other)?;
        sweep(&place);
        let made = private_directory(&place)?;
        let whole = Whole(Some(made));
        let root = whole.path().to_owned();
        let held = created(&root.join(HELD))?;
        held.try_lock()?;
        drop(alone);
        let directory = root.join(OUTPUT);
        fs::create_dir(&directory)?;
        let file = root.join(name);
        created(&file)?.write_all(bytes)?;
        Ok(Self {
            file,
            directory,
            _whole: whole,
            _held: held,
        })
    }

    /// The recording.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Where the program may write.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether the program has written a transcript.
    pub(super) fn has_transcript(&self) -> bool {
        written(&self.directory).is_some()
    }

    /// What the program has written: the first text there is.
    pub(super) async fn transcript(&self) -> io::Result<Option<String>> {
        let directory = self.directory.clone();
        let read = spawn_blocking(move || {
            let Some(path) = written(&directory) else {
                return Ok(None);
            };
            let limit = u64::try_from(TRANSCRIPT_LIMIT).unwrap_or(u64::MAX);
            let bytes = read_bounded(&path, limit).map_err(io::Error::other)?;
            Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
        });
        read.await.map_err(io::Error::other)?
    }
}

/// A directory that is removed with everything in it.
struct Whole(Option<TempDir>);

impl Whole {
    fn path(&self) -> &Path {
        self.0.as_ref().map_or(Path::new(""), TempDir::path)
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        let Some(path) = self.0.take().map(TempDir::keep) else {
            return;
        };
        for _ in 1..TRIES {
            match remove(&path) {
                Ok(()) => return,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return,
                Err(_) => thread::sleep(PAUSE),
            }
        }
        if let Err(error) = remove(&path) {
            tracing::warn!(path = %path.display(), %error, "a recording is left behind until the next sweep");
        }
    }
}

/// A directory that is new and that only its owner enters.
fn private_directory(place: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    builder.prefix(PREFIX).tempdir_in(place)
}

/// A file that is new and that only its owner reads.
fn created(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// Removes what processes left that were killed. It does nothing where there is nothing, and where
/// somebody else is at it.
pub(crate) fn sweep_unused(state: &StateDirectory) {
    let place = state.path().join(TRANSCRIPTION);
    let is_empty = fs::read_dir(&place).map_or(true, |mut entries| {
        !entries.any(|entry| entry.is_ok_and(|entry| is_ours(&entry)))
    });
    if is_empty {
        return;
    }
    let Ok(lock) = state.file(TRANSCRIPTION_LOCK) else {
        return;
    };
    if let Ok(_alone) = FileLock::acquire(&lock, Duration::ZERO) {
        sweep(&place);
    }
}

/// Removes directories that nobody holds; the caller has the lock.
fn sweep(place: &Path) {
    let Ok(entries) = fs::read_dir(place) else {
        return;
    };
    for entry in entries.flatten().filter(is_ours) {
        let path = entry.path();
        let mark = path.join(HELD);
        // What can't be removed now is tried again the next time.
        let _ = match fs::symlink_metadata(&mark) {
            Ok(metadata) if metadata.is_file() => {
                match File::open(&mark).map(|held| held.try_lock().is_ok()) {
                    Ok(true) => remove(&path),
                    Ok(false) | Err(_) => Ok(()),
                }
            }
            // One that was left before it was marked, or just before it was gone, is empty. Anything
            // else is not ours.
            _ => fs::remove_dir(&path),
        };
    }
}

/// Whether an entry may be such a directory: a link to one is none.
fn is_ours(entry: &DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with(PREFIX)
        && entry.file_type().is_ok_and(|kind| kind.is_dir())
}

/// Removes a directory. The mark goes last: where this is cut short, the rest must still be known for
/// what it is.
fn remove(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name() == HELD {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_dir_all(path)
}

/// The first text in a directory, by name.
fn written(directory: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(directory).ok()?;
    let paths = entries.flatten().map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "txt"))
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording() -> Recording<'static> {
        Recording {
            media_type: "audio/wav",
            bytes: b"RIFF".to_vec(),
        }
    }

    fn left(state: &StateDirectory) -> usize {
        let entries = fs::read_dir(state.path().join(TRANSCRIPTION)).unwrap();
        entries.flatten().filter(|it| it.path().is_dir()).count()
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn nobody_else_reads_a_recording_and_nothing_stays() {
        use std::os::unix::fs::PermissionsExt as _;

        let home = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(&home.path().join("state")).unwrap();
        let scratch = Scratch::new(&state, recording()).await.unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(scratch.file()), 0o600);
        assert_eq!(mode(scratch.file().parent().unwrap()), 0o700);
        assert_eq!(fs::read(scratch.file()).unwrap(), b"RIFF");
        assert_eq!(left(&state), 1);
        drop(scratch);
        assert_eq!(left(&state), 0);
    }

    /// As one is left by a process that was killed: with its file, and nobody holds it.
    fn orphan(state: &StateDirectory) -> PathBuf {
        let orphan = state.path().join(TRANSCRIPTION).join("recording-orphan");
        fs::create_dir_all(orphan.join(OUTPUT)).unwrap();
        fs::write(orphan.join(HELD), "").unwrap();
        fs::write(orphan.join("recording.ogg"), "words").unwrap();
        orphan
    }

    #[tokio::test]
    async fn what_nobody_holds_is_swept_and_what_is_held_stays() {
        let home = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(&home.path().join("state")).unwrap();
        let first = Scratch::new(&state, recording()).await.unwrap();
        let left = orphan(&state);
        let second = Scratch::new(&state, recording()).await.unwrap();
        assert!(!left.exists());
        assert!(first.file().exists() && second.file().exists());
        let left = orphan(&state);
        sweep_unused(&state);
        assert!(!left.exists());
        assert!(first.file().exists() && second.file().exists());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn what_is_not_ours_is_not_swept() {
        let home = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(&home.path().join("state")).unwrap();
        let ours = state.path().join(TRANSCRIPTION);
        let elsewhere = home.path().join("elsewhere");
        let foreign = [
            state.path().join("media/inbound"),
            state.path().join("media/recording-1"),
            ours.join("models"),
            ours.join("recording-without-a-mark"),
            elsewhere.clone(),
        ];
        for directory in &foreign {
            fs::create_dir_all(directory).unwrap();
            fs::write(directory.join("voice.ogg"), "words").unwrap();
        }
        fs::write(ours.join("models").join(HELD), "").unwrap();
        fs::write(elsewhere.join(HELD), "").unwrap();
        std::os::unix::fs::symlink(&elsewhere, ours.join("recording-link")).unwrap();
        fs::create_dir(ours.join("recording-unmarked")).unwrap();
        drop(Scratch::new(&state, recording()).await.unwrap());
        sweep_unused(&state);
        for directory in &foreign {
            assert!(directory.join("voice.ogg").exists(), "{directory:?}");
        }
        assert!(!ours.join("recording-unmarked").exists());
    }

    #[test]
    fn sweeping_leaves_nothing_where_nothing_was() {
        let home = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(&home.path().join("state")).unwrap();
        sweep_unused(&state);
        assert!(!state.path().join(TRANSCRIPTION).exists());
    }
}
