//! The last lines of files that are appended to.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use crate::lock::FileLock;
use crate::read::{ReadError, open_regular, unreadable};
use crate::rotate::{LOCK, beside};

/// How much is read at a time, in bytes.
const STEP: u64 = 64 * 1024;
/// How long a file that starts anew at this moment is waited for.
const PATIENCE: Duration = Duration::from_millis(100);

/// Hands over the lines of a [`RotatedFile`](crate::RotatedFile) and of the one before it, the newest
/// first, until it is told that no more are wanted.
///
/// At most `window` bytes at the end of each file are looked at; a line that begins before them is left
/// out. Files that are not there have no lines.
pub fn newest_lines(
    path: &Path,
    window: u64,
    mut wants_more: impl FnMut(&[u8]) -> bool,
) -> Result<(), ReadError> {
    let older = beside(path, "1");
    if !path.exists() && !older.exists() {
        return Ok(());
    }
    // Between the two the file could start anew, and would be read twice. Whoever writes does not wait
    // for this. Where it can't be had, lines that are there twice are better than none.
    let _lock = FileLock::acquire(&beside(path, LOCK), PATIENCE);
    for path in [path, &older] {
        let (mut file, length) = match open_regular(path) {
            Err(ReadError::Missing(_)) => continue,
            opened => opened?,
        };
        let read = from_the_end(&mut file, length, window, &mut wants_more);
        if !read.map_err(|source| unreadable(path, source))? {
            break;
        }
    }
    Ok(())
}

/// Hands over lines from the end on; `false` if no more are wanted.
fn from_the_end(
    file: &mut File,
    length: u64,
    window: u64,
    wants_more: &mut impl FnMut(&[u8]) -> bool,
) -> io::Result<bool> {
    let first = length.saturating_sub(window);
    let mut start = length;
    // The end of a line whose beginning is still to be read.
    let mut line_end = Vec::new();
    while start > first {
        let end = start;
        start = end.saturating_sub(STEP).max(first);
        file.seek(SeekFrom::Start(start))?;
        let mut block = Vec::new();
        file.by_ref().take(end - start).read_to_end(&mut block)?;
        block.append(&mut line_end);
        while let Some(newline) = block.iter().rposition(|byte| *byte == b'\n') {
            let line = block.split_off(newline);
            if line.len() > 1 && !wants_more(line.strip_prefix(b"\n").unwrap_or(&line)) {
                return Ok(false);
            }
        }
        line_end = block;
    }
    // What is left begins the file, or was cut off by the window.
    Ok(first > 0 || line_end.is_empty() || wants_more(&line_end))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;
    use crate::rotate::RotatedFile;

    fn log() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.log");
        (directory, path)
    }

    /// The last lines, the newest first.
    fn newest(path: &Path, window: u64, most: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let read = newest_lines(path, window, |line| {
            lines.push(String::from_utf8_lossy(line).into_owned());
            lines.len() < most
        });
        read.unwrap();
        lines
    }

    #[test]
    fn the_newest_lines_come_first_and_those_of_the_file_before_follow() {
        let (_directory, path) = log();
        let mut log = RotatedFile::new(path.clone(), 10, 3);
        for line in ["1111\n", "2222\n", "3333\n", "4444\n", "5555\n"] {
            log.append(line.as_bytes()).unwrap();
        }
        assert_eq!(newest(&path, 100, 2), ["5555", "4444"]);
        assert_eq!(newest(&path, 100, 9), ["5555", "4444", "3333"]);
        // The next line has not come yet.
        fs::remove_file(&path).unwrap();
        assert_eq!(newest(&path, 100, 9), ["4444", "3333"]);
    }

    #[test]
    fn a_line_that_begins_before_the_window_is_left_out() {
        let (_directory, path) = log();
        fs::write(&path, "first\nsecond\nthird\n").unwrap();
        assert_eq!(newest(&path, 8, 9), ["third"]);
        assert_eq!(newest(&path, 18, 9), ["third", "second"]);
        assert_eq!(newest(&path, 19, 9), ["third", "second", "first"]);
    }

    #[test]
    fn nothing_is_made_where_there_is_nothing() {
        let (directory, path) = log();
        assert!(newest(&path, 100, 9).is_empty());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let (_directory, path) = log();
        fs::create_dir(&path).unwrap();
        let error = newest_lines(&path, 100, |_| true).unwrap_err();
        assert!(error.to_string().contains("is a directory"), "{error}");
    }

    #[test]
    fn whoever_writes_meanwhile_is_not_held_up() {
        let (_directory, path) = log();
        let mut log = RotatedFile::new(path.clone(), 10, 3);
        log.append(b"111111\n").unwrap();
        let mut lines = Vec::new();
        let read = newest_lines(&path, 100, |line| {
            lines.push(line.to_vec());
            // The file is full: it would start anew now.
            log.append(b"222222\n").unwrap();
            true
        });
        read.unwrap();
        assert_eq!(lines, [b"111111"], "it was not read twice");
        assert_eq!(newest(&path, 100, 9), ["222222", "111111"]);
    }

    proptest! {
        #[test]
        fn lines_of_any_length_are_whole(lengths in prop::collection::vec(0_usize..200_000, 0..8)) {
            let (_directory, path) = log();
            let mut text = String::new();
            for (number, length) in lengths.iter().enumerate() {
                text.push_str(&format!("{number} {}\n", "x".repeat(*length)));
            }
            fs::write(&path, &text).unwrap();
            let mut expected: Vec<&str> = text.lines().collect();
            expected.reverse();
            prop_assert_eq!(newest(&path, 10_000_000, 100), expected);
        }
    }
}
