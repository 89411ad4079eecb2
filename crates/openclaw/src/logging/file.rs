//! The log file of a state directory, through good and bad times.

use std::io;
use std::path::{Path, PathBuf};

use openclaw_state::{RotatedFile, StateDirectory, StateDirectoryError, layout};

/// The log file, opened at the first line and again after every failure.
///
/// A disk that is full now may have room later, so no failure is the last.
pub(crate) struct LogFile {
    state: PathBuf,
    file: Option<RotatedFile>,
    /// Whether somebody was told that it can't be written, and it has not worked since.
    told: bool,
}

impl LogFile {
    pub(crate) fn new(state: &Path) -> Self {
        Self {
            state: state.to_owned(),
            file: None,
            told: false,
        }
    }

    /// Writes a line; returns why it can't be done where that has to be told.
    pub(crate) fn write(&mut self, line: &[u8]) -> Option<String> {
        match self.try_write(line) {
            Ok(()) => {
                self.told = false;
                None
            }
            Err(error) => (!std::mem::replace(&mut self.told, true)).then_some(error),
        }
    }

    /// Writes a line; the file stays open only if that works.
    fn try_write(&mut self, line: &[u8]) -> Result<(), String> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => open(&self.state).map_err(|error| error.to_string())?,
        };
        let written = file.append(line);
        written.map_err(|error| in_file(&self.state, &error))?;
        self.file = Some(file);
        Ok(())
    }
}

fn open(state: &Path) -> Result<RotatedFile, StateDirectoryError> {
    let state = StateDirectory::open(state)?;
    Ok(RotatedFile::new(
        state.path().join(layout::LOG),
        layout::LOG_LIMIT,
        layout::LOG_KEEP,
    ))
}

fn in_file(state: &Path, error: &io::Error) -> String {
    format!(
        "cannot write {}: {error}",
        state.join(layout::LOG).display()
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_log_that_was_blocked_goes_on_and_each_failure_is_told_once() {
        let directory = tempfile::tempdir().unwrap();
        let state = directory.path().join("state");
        let mut log = LogFile::new(&state);
        for line in ["first\n", "second\n"] {
            fs::write(&state, "in the way").unwrap();
            log.file = None;
            let error = log.write(b"lost\n").unwrap();
            assert!(error.contains("OPENCLAW_STATE_DIR"), "{error}");
            assert_eq!(log.write(b"lost\n"), None);
            fs::remove_file(&state).unwrap();
            assert_eq!(log.write(line.as_bytes()), None);
            let text = fs::read_to_string(state.join(layout::LOG)).unwrap();
            assert_eq!(text, line);
            fs::remove_dir_all(&state).unwrap();
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_disk_that_was_full_is_written_again_when_it_has_room() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(layout::LOG);
        fs::create_dir(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let mut log = LogFile::new(directory.path());
        let error = log.write(b"lost\n").unwrap();
        assert!(error.contains("No space left"), "{error}");
        assert!(error.contains(layout::LOG), "{error}");
        assert_eq!(log.write(b"lost\n"), None);
        fs::remove_file(&path).unwrap();
        // What was cut off by the full disk.
        fs::write(&path, "los").unwrap();
        for line in ["first\n", "second\n"] {
            assert_eq!(log.write(line.as_bytes()), None);
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "los\nfirst\nsecond\n");
    }
}
