//! What was typed in conversations before, kept between runs.

use std::path::PathBuf;
use std::time::Duration;

use openclaw_secrets::Redactor;
use openclaw_state::layout::{
    CHAT_HISTORY, CHAT_HISTORY_ENTRIES, CHAT_HISTORY_ENTRY, CHAT_HISTORY_LIMIT, CHAT_HISTORY_LOCK,
};
use openclaw_state::{FileLock, StateDirectory, Versioned, VersionedError, load, store};
use serde::{Deserialize, Serialize};

/// How long another conversation may take to write.
const PATIENCE: Duration = Duration::from_millis(500);

/// The contents of the file.
#[derive(Default, Serialize, Deserialize)]
struct Lines {
    /// What was typed, the oldest first.
    entries: Vec<String>,
}

impl Versioned for Lines {
    const FORMAT: &'static str = "openclaw chat history";
    const VERSION: u32 = 1;
    // Escapes make a file larger than what is in it.
    const LIMIT: u64 = 4 * CHAT_HISTORY_LIMIT as u64;
}

/// What was typed in conversations before.
pub(super) struct Remembered {
    file: PathBuf,
    lock: PathBuf,
    redactor: Redactor,
}

impl Remembered {
    /// That of a state directory.
    pub(super) fn of(state: &StateDirectory, redactor: &Redactor) -> Option<Self> {
        // A conversation works without.
        Some(Self {
            file: state.file(CHAT_HISTORY).ok()?,
            lock: state.file(CHAT_HISTORY_LOCK).ok()?,
            redactor: redactor.clone(),
        })
    }

    /// All of it, the oldest first.
    pub(super) fn all(&self) -> Vec<String> {
        match load::<Lines>(&self.file) {
            Ok(lines) => lines.unwrap_or_default().entries,
            Err(error) => {
                tracing::warn!("what was typed before is not there: {error}");
                Vec::new()
            }
        }
    }

    /// Keeps a line. Credentials of ours are not in it; what begins with a space is not kept, as in
    /// shells.
    pub(super) fn keep(&self, line: &str) {
        let is_kept = !line.trim().is_empty()
            && !line.starts_with(char::is_whitespace)
            && line.len() <= CHAT_HISTORY_ENTRY;
        if !is_kept {
            return;
        }
        let line = self.redactor.redact(line).into_owned();
        if let Err(reason) = self.append(line) {
            tracing::warn!("what was typed is not kept: {reason}");
        }
    }

    fn append(&self, line: String) -> Result<(), String> {
        let _lock = FileLock::acquire(&self.lock, PATIENCE).map_err(|error| error.to_string())?;
        let mut lines = match load::<Lines>(&self.file) {
            Ok(lines) => lines.unwrap_or_default(),
            // It is set aside when it is written.
            Err(VersionedError::Corrupt { .. }) => Lines::default(),
            Err(error) => return Err(error.to_string()),
        };
        if lines.entries.last() == Some(&line) {
            return Ok(());
        }
        lines.entries.push(line);
        let mut size = 0;
        let fits = |entry: &&String| {
            size += entry.len();
            size <= CHAT_HISTORY_LIMIT
        };
        let kept = lines.entries.iter().rev().take(CHAT_HISTORY_ENTRIES);
        let kept = kept.take_while(fits).count();
        let first = lines.entries.len() - kept;
        lines.entries.drain(..first);
        store(&self.file, &lines).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use openclaw_secrets::Secret;

    use super::*;

    fn remembered() -> (tempfile::TempDir, Remembered) {
        let directory = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(&directory.path().join("state")).unwrap();
        let remembered = Remembered::of(&state, &Redactor::new()).unwrap();
        (directory, remembered)
    }

    #[test]
    fn lines_are_kept_in_their_order_and_once_in_a_row() {
        let (_directory, remembered) = remembered();
        assert!(remembered.all().is_empty());
        for line in ["one", "two\nlines", "two\nlines", " hidden", "", "one"] {
            remembered.keep(line);
        }
        assert_eq!(remembered.all(), ["one", "two\nlines", "one"]);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_them() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_directory, remembered) = remembered();
        remembered.keep("one");
        let mode = remembered.file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn the_oldest_give_way() {
        let (_directory, remembered) = remembered();
        let long = "x".repeat(CHAT_HISTORY_ENTRY - 10);
        let number = CHAT_HISTORY_LIMIT / CHAT_HISTORY_ENTRY + 5;
        for it in 0..number {
            remembered.keep(&format!("{it} {long}"));
        }
        let all = remembered.all();
        let size: usize = all.iter().map(String::len).sum();
        assert!(size <= CHAT_HISTORY_LIMIT && all.len() < number, "{size}");
        assert!(all.last().unwrap().starts_with(&format!("{} ", number - 1)));
        remembered.keep(&"y".repeat(CHAT_HISTORY_ENTRY + 1));
        assert_eq!(remembered.all().len(), all.len());
    }

    #[test]
    fn what_is_broken_is_set_aside_and_what_is_newer_is_left_alone() {
        let (_directory, remembered) = remembered();
        std::fs::write(&remembered.file, "nonsense").unwrap();
        assert!(remembered.all().is_empty());
        remembered.keep("one");
        assert_eq!(remembered.all(), ["one"]);
        let newer = r#"{"format":"openclaw chat history","version":9,"data":{}}"#;
        std::fs::write(&remembered.file, newer).unwrap();
        remembered.keep("two");
        assert_eq!(std::fs::read_to_string(&remembered.file).unwrap(), newer);
    }

    #[test]
    fn credentials_are_not_kept() {
        let (_directory, remembered) = remembered();
        let _ = remembered
            .redactor
            .learn(&Secret::new("correct-horse-battery"));
        remembered.keep("my key is correct-horse-battery");
        assert_eq!(remembered.all(), ["my key is [REDACTED]"]);
    }
}
