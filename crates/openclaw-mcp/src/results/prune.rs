//! Making room: what is old goes, and the oldest of what is left while it is too much.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::id::ResultId;

/// How files begin that are being written: see [`openclaw_state::replace`].
const UNFINISHED: &str = ".openclaw-";
/// After this time nobody is writing them any more.
const ABANDONED: Duration = Duration::from_hours(1);

/// How much may be kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quota {
    /// How long each file.
    pub(super) age: Duration,
    /// How many bytes in all files together.
    pub(super) bytes: u64,
}

struct Kept {
    modified: SystemTime,
    path: PathBuf,
    bytes: u64,
}

/// Deletes what is too old or too much, and says how many bytes are left.
///
/// Other processes may do the same at the same time: a file that is gone already is fine. What
/// does not bear a name that we give is somebody else's and stays, as do links and directories.
pub(super) fn prune(directory: &Path, quota: Quota, now: SystemTime) -> io::Result<u64> {
    let mut kept = Vec::new();
    for entry in fs::read_dir(directory)? {
        let Ok(entry) = entry else { continue };
        let Some(longest) = keeping_time(&entry.file_name(), quota) else {
            continue;
        };
        // The entry itself, not what it leads to.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        if !metadata.is_file() {
            continue;
        }
        let modified = metadata.modified()?;
        let found = Kept {
            modified,
            path: entry.path(),
            bytes: metadata.len(),
        };
        // A file of the future counts as new: clocks are set back at times.
        let age = now.duration_since(modified).unwrap_or_default();
        if age <= longest || !is_gone_after_removing(&found) {
            kept.push(found);
        }
    }
    // The name decides between files of the same moment, so that all processes choose alike.
    kept.sort_by(|one, other| (one.modified, &one.path).cmp(&(other.modified, &other.path)));
    let mut left: u64 = kept.iter().map(|file| file.bytes).sum();
    for file in &kept {
        if left <= quota.bytes {
            break;
        }
        // What is still being written counts, but is not taken away from its writer.
        let is_finished = file.path.file_name().and_then(result_of).is_some();
        if is_finished && is_gone_after_removing(file) {
            left -= file.bytes;
        }
    }
    Ok(left)
}

/// How long a file of this name is kept; none where it is not ours.
fn keeping_time(name: &OsStr, quota: Quota) -> Option<Duration> {
    let is_unfinished = name.to_str()?.starts_with(UNFINISHED);
    match result_of(name) {
        Some(_) => Some(quota.age),
        None => is_unfinished.then_some(ABANDONED),
    }
}

fn result_of(name: &OsStr) -> Option<ResultId> {
    ResultId::of_file(name.to_str()?)
}

fn is_gone_after_removing(file: &Kept) -> bool {
    match fs::remove_file(&file.path) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => {
            tracing::warn!(path = %file.path.display(), "an old result can't be deleted: {error}");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    /// Files of one kilobyte each, the first one the oldest.
    fn files(directory: &Path, count: u64, now: SystemTime) -> Vec<PathBuf> {
        let file = |number| {
            let path = directory.join(ResultId::random().unwrap().file_name());
            put(&path, now - HOUR * u32::try_from(count - number).unwrap());
            path
        };
        (0..count).map(file).collect()
    }

    fn put(path: &Path, modified: SystemTime) {
        fs::write(path, [0; 1000]).unwrap();
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(modified).unwrap();
    }

    fn quota(hours: u32, bytes: u64) -> Quota {
        Quota {
            age: HOUR * hours,
            bytes,
        }
    }

    #[test]
    fn what_is_old_goes_and_then_the_oldest() {
        let directory = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let files = files(directory.path(), 6, now);
        let left = prune(directory.path(), quota(4, 10_000), now).unwrap();
        assert_eq!(left, 4_000);
        assert!(!files[1].exists() && files[2].exists());
        let left = prune(directory.path(), quota(4, 2_500), now).unwrap();
        assert_eq!(left, 2_000);
        assert!(!files[3].exists() && files[4].exists());
        let before = now - HOUR * 100;
        let left = prune(directory.path(), quota(4, 2_500), before).unwrap();
        assert_eq!(left, 2_000, "a clock that was set back");
    }

    #[test]
    fn what_is_not_ours_stays() {
        let directory = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let long_ago = now - HOUR * 1_000;
        let id = ResultId::random().unwrap().to_string();
        let foreign = [
            "notes.txt".to_owned(),
            format!("{id}.result.bak"),
            format!("{}.result", id.to_uppercase()),
            format!("x{id}.result"),
            id,
        ];
        for name in &foreign {
            put(&directory.path().join(name), long_ago);
        }
        let inner = ResultId::random().unwrap().file_name();
        fs::create_dir(directory.path().join(&inner)).unwrap();
        assert_eq!(prune(directory.path(), quota(0, 0), now).unwrap(), 0);
        for name in foreign.iter().chain([&inner]) {
            assert!(directory.path().join(name).exists(), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_neither_followed_nor_removed() {
        let (directory, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let now = SystemTime::now();
        let target = elsewhere.path().join("precious");
        put(&target, now - HOUR * 1_000);
        let link = directory
            .path()
            .join(ResultId::random().unwrap().file_name());
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert_eq!(prune(directory.path(), quota(0, 0), now).unwrap(), 0);
        assert!(target.exists() && link.symlink_metadata().is_ok());
    }

    #[test]
    fn what_was_never_finished_goes_when_nobody_writes_it_any_more() {
        let directory = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let path = |name: &str| directory.path().join(name);
        put(&path(".openclaw-abcdef"), now - HOUR * 2);
        put(&path(".openclaw-ghijkl"), now);
        assert_eq!(prune(directory.path(), quota(100, 0), now).unwrap(), 1_000);
        assert!(!path(".openclaw-abcdef").exists() && path(".openclaw-ghijkl").exists());
    }

    #[test]
    fn several_at_once_leave_what_one_would_leave() {
        let directory = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let files = files(directory.path(), 200, now);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let left = prune(directory.path(), quota(1_000, 50_000), now).unwrap();
                    assert_eq!(left, 50_000);
                });
            }
        });
        let exists: Vec<_> = files.iter().map(|file| file.exists()).collect();
        assert!(exists[..150].iter().all(|exists| !exists));
        assert!(exists[150..].iter().all(|exists| *exists));
    }
}
