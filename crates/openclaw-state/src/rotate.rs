//! Logs of lines that start anew when they have grown enough.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
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
/// Several processes may write to the same one: lines are one append, and whoever finds the
/// file full renames it under a lock. The file is created at the first line, so that a command
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
    /// Whether it does not end within a line: a full disk, or the end of a process, may have left a part of one.
    is_whole: bool,
}

impl RotatedFile {
    /// A log at `path` whose files have at most `limit` bytes each, and what other processes write within a
    /// tenth of a second.
    ///
    /// Lines that are larger than the limit still get a file of their own.
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

    /// Appends lines, each with its end, such that they are lines whatever is before them, but for what another process
    /// has torn since the last look.
    pub fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut seen = self.look()?;
        let length = seen.length.saturating_add(lines.len() as u64);
        if seen.length > 0 && length > self.limit {
            self.rotate()?;
            seen = self.look()?;
        }
        // One write, because it is one append among those of other processes.
        let text = if seen.is_whole {
            Cow::Borrowed(lines)
        } else {
            Cow::Owned([b"\n", lines].concat())
        };
        // What is there if it fails has to be looked at.
        self.seen = None;
        self.current()?.write_all(&text)?;
        seen.length = seen.length.saturating_add(text.len() as u64);
        seen.is_whole = true;
        self.seen = Some(seen);
        Ok(())
    }

    /// How the file is; looked at now and then only, which is most of what a line costs otherwise.
    fn look(&mut self) -> io::Result<Seen> {
        let at = Instant::now();
        let seen = self.seen.filter(|_| self.file.is_some());
        if let Some(seen) = seen
            && at.duration_since(seen.at) < SEEN
        {
            return Ok(seen);
        }
        let file = self.current()?;
        let length = file.metadata()?.len();
        // Nobody else has written to it where it is as long as it was.
        let is_whole = match seen {
            Some(seen) if seen.length == length => seen.is_whole,
            _ => ends_whole(file, length)?,
        };
        let seen = Seen {
            at,
            length,
            is_whole,
        };
        self.seen = Some(seen);
        Ok(seen)
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

/// A file that belongs to a log: one of the older ones, by its number, or its lock.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

/// Whether the last byte is the end of a line.
fn ends_whole(file: &mut File, length: u64) -> io::Result<bool> {
    let Some(last) = length.checked_sub(1) else {
        return Ok(true);
    };
    // Whatever is written goes to the end nevertheless.
    file.seek(SeekFrom::Start(last))?;
    let mut byte = [b'\n'];
    file.read_exact(&mut byte)?;
    Ok(byte == [b'\n'])
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
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
    fn nothing_is_created_before_the_first_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("logs/a.log");
        let mut log = RotatedFile::new(path.clone(), 10, 2);
        assert!(!path.parent().unwrap().exists());
        log.append(b"x\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"x\n");
    }

    #[test]
    fn at_most_the_given_number_of_files_is_kept_and_the_newest_lines_are_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.log");
        let mut log = RotatedFile::new(path.clone(), 10, 2);
        for line in ["111111\n", "222222\n", "333333\n", "444444\n"] {
            log.append(line.as_bytes()).unwrap();
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
        one.append(b"1\n").unwrap();
        other.append(b"22222\n").unwrap();
        let seen = one.seen.as_mut().unwrap();
        assert_eq!(seen.length, 2);
        seen.at -= SEEN;
        one.append(b"333\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "333\n");
        // What the other one has is the old file now.
        let seen = other.seen.as_mut().unwrap();
        seen.at -= SEEN;
        other.append(b"44444\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "333\n44444\n");
    }

    #[test]
    fn a_part_of_a_line_spoils_no_other_whoever_has_left_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.log");
        let text = || fs::read_to_string(&path).unwrap();
        let tear = || {
            let mut file = OpenOptions::new().append(true).open(&path).unwrap();
            file.write_all(b"par").unwrap();
        };
        fs::write(&path, "part of another run").unwrap();
        let mut log = RotatedFile::new(path.clone(), 1_000, 2);
        log.append(b"1\n").unwrap();
        log.append(b"2\n").unwrap();
        assert_eq!(text(), "part of another run\n1\n2\n");
        // Another process, while this one goes on.
        tear();
        log.seen.as_mut().unwrap().at -= SEEN;
        log.append(b"3\n").unwrap();
        assert!(text().ends_with("\n2\npar\n3\n"), "{}", text());
        // A write of its own that failed.
        tear();
        log.seen = None;
        log.append(b"4\n5\n").unwrap();
        assert!(text().ends_with("\n3\npar\n4\n5\n"), "{}", text());
        // One that left nothing leaves no empty line.
        log.seen = None;
        log.append(b"6\n").unwrap();
        assert!(text().ends_with("\n5\n6\n"), "{}", text());
        assert!(!text().contains("\n\n"));
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
                        log.append(line.as_bytes()).unwrap();
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
