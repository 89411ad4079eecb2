//! Append-only files that start anew when they have grown enough.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::lock::FileLock;

/// How long what was seen of a file counts: another process may have written to it since, or have
/// renamed it.
const SEEN: Duration = Duration::from_millis(100);

/// What the lock of a log is called, behind its name.
pub(crate) const LOCK: &str = "lock";

/// A log that keeps at most `keep` older files beside the current one.
///
/// Several processes may write to the same one: each write is one append, and whoever finds the
/// file full renames it under a lock. The file is created at the first write, so that a command
/// with nothing to log leaves no trace.
#[derive(Debug)]
pub struct RotatedFile {
    path: PathBuf,
    limit: u64,
    keep: u32,
    file: Option<File>,
    seen: Option<Seen>,
}

/// What was seen of the file.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Instant,
    /// Its length, with what was written to it since by this one.
    length: u64,
}

impl RotatedFile {
    /// A log at `path` whose files have at most `limit` bytes each, and what other processes write within a
    /// tenth of a second.
    ///
    /// A single write that is larger than the limit still gets a file of its own.
    pub fn new(path: PathBuf, limit: u64, keep: u32) -> Self {
        Self {
            path,
            limit,
            keep,
            file: None,
            seen: None,
        }
    }

    fn current(&mut self) -> io::Result<&mut File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => open(&self.path)?,
        };
        Ok(self.file.insert(file))
    }

    /// How long the file is; looked at now and then only, which is most of what a line costs otherwise.
    fn length(&mut self) -> io::Result<u64> {
        let at = Instant::now();
        if let Some(seen) = self.seen
            && self.file.is_some()
            && at.duration_since(seen.at) < SEEN
        {
            return Ok(seen.length);
        }
        let length = self.current()?.metadata()?.len();
        self.seen = Some(Seen { at, length });
        Ok(length)
    }

    fn rotate(&mut self) -> io::Result<()> {
        // Somebody else is at it: this write makes the file a little larger, the next one looks
        // again.
        let Ok(_lock) = FileLock::acquire(&self.numbered(LOCK), Duration::ZERO) else {
            return Ok(());
        };
        let ours = self.file.take();
        self.seen = None;
        if ours.is_some_and(|file| is_still_at(&file, &self.path)) {
            for number in (1..self.keep).rev() {
                rename_if_there(
                    &self.numbered(&number.to_string()),
                    &self.numbered(&(number + 1).to_string()),
                )?;
            }
            rename_if_there(&self.path, &self.numbered("1"))?;
        }
        Ok(())
    }

    fn numbered(&self, suffix: &str) -> PathBuf {
        beside(&self.path, suffix)
    }
}

impl Write for RotatedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.length()?;
        if length > 0 && length.saturating_add(bytes.len() as u64) > self.limit {
            self.rotate()?;
        }
        let written = self.current()?.write(bytes)?;
        if let Some(seen) = &mut self.seen {
            seen.length = seen.length.saturating_add(written as u64);
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), File::flush)
    }
}

/// A file that belongs to a log: one of the older ones, by its number, or its lock.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    if let Some(directory) = path.parent() {
        crate::directory::create_private(directory)?;
    }
    options.open(path)
}

fn rename_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Whether the path still names the file that we have open, or was another process faster.
#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_still_at(_file: &File, _path: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_created_before_the_first_write() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("logs/a.log");
        let mut log = RotatedFile::new(path.clone(), 10, 2);
        log.flush().unwrap();
        assert!(!path.parent().unwrap().exists());
        log.write_all(b"x").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"x");
    }

    #[test]
    fn at_most_the_given_number_of_files_is_kept_and_the_newest_lines_are_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.log");
        let mut log = RotatedFile::new(path.clone(), 10, 2);
        for line in ["111111\n", "222222\n", "333333\n", "444444\n"] {
            log.write_all(line.as_bytes()).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "444444\n");
        assert_eq!(fs::read_to_string(log.numbered("1")).unwrap(), "333333\n");
        assert_eq!(fs::read_to_string(log.numbered("2")).unwrap(), "222222\n");
        assert!(!log.numbered("3").exists());
    }

    #[test]
    fn what_another_writes_is_noticed_a_moment_later() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.log");
        let mut one = RotatedFile::new(path.clone(), 10, 2);
        let mut other = RotatedFile::new(path.clone(), 10, 2);
        one.write_all(b"1\n").unwrap();
        other.write_all(b"22222\n").unwrap();
        let seen = one.seen.as_mut().unwrap();
        assert_eq!(seen.length, 2);
        seen.at -= SEEN;
        one.write_all(b"333\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "333\n");
        // What the other one has is the old file now.
        let seen = other.seen.as_mut().unwrap();
        seen.at -= SEEN;
        other.write_all(b"44444\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "333\n44444\n");
    }

    #[test]
    fn two_writers_lose_no_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.log");
        std::thread::scope(|scope| {
            for writer in 0..2 {
                let mut log = RotatedFile::new(path.clone(), 1_000, 100);
                scope.spawn(move || {
                    for line in 0..500 {
                        let line = format!("{writer} {line:04}\n");
                        log.write_all(line.as_bytes()).unwrap();
                    }
                });
            }
        });
        let lines: usize = fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| {
                fs::read_to_string(entry.unwrap().path())
                    .unwrap()
                    .lines()
                    .count()
            })
            .sum();
        assert_eq!(lines, 1_000);
    }
}
