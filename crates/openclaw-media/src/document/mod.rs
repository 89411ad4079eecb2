//! The text of a PDF.
//!
//! A PDF is a program in disguise, and anybody's. It is read by a process of its own, which has little
//! memory and time, can open no files and start nothing, and is killed when nobody waits for it.

mod called;
mod lines;
mod pages;

use std::path::{Path, PathBuf};
use std::time::Duration;

use openclaw_process::{End, Launcher, ProgramCommand};
use thiserror::Error;
use tokio::time::timeout;

pub use self::called::run_if_called;
use self::called::{ARGUMENT, Outcome};
use crate::program::{RunError, run};

/// How long it may take to read a document, by the clock on the wall.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many bytes of text are read at most.
const TEXT_LIMIT: usize = 1024 * 1024;
/// How large a document may be, in bytes.
pub(crate) const LARGEST: usize = 64 * 1024 * 1024;

/// The program that reads documents.
#[derive(Clone, Debug)]
pub struct DocumentProgram(PathBuf);

impl DocumentProgram {
    /// The program that is running, whose `main` calls [`run_if_called`] before anything else.
    pub fn this_program() -> Self {
        if cfg!(target_os = "linux") {
            // Not the path that it was started by: that may lead to a newer version by now. Whoever
            // starts it for us is the same program.
            return Self(PathBuf::from("/proc/self/exe"));
        }
        Self(std::env::current_exe().unwrap_or_default())
    }

    /// Another program, whose `main` calls [`run_if_called`] before anything else.
    pub fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

/// The text of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentText {
    /// The text.
    pub text: String,
    /// Whether there is more of it.
    pub is_cut: bool,
}

/// Why a document has no text for us.
#[derive(Debug, Error)]
pub enum DocumentError {
    /// It wants a password.
    #[error("it is locked with a password")]
    Locked,
    /// There is no text in it.
    #[error("there is no text in it: it may be a scan")]
    NoText,
    /// There is text, but nothing says which letters it has.
    #[error("it does not say which letters it shows")]
    NoLetters,
    /// It can't be read.
    #[error("it is broken, or no PDF at all")]
    Broken,
    /// It is larger than any that is read.
    #[error("it is larger than {} MiB", LARGEST / 1024 / 1024)]
    TooLarge,
    /// It wants more than it is given.
    #[error("it takes more time or memory to read than it is given")]
    TooMuch,
    /// What reads documents does not run.
    #[error("what reads documents does not run: {0}")]
    NotRead(String),
}

/// Reads a PDF.
pub(crate) async fn document_text(
    launcher: &Launcher,
    program: &DocumentProgram,
    pdf: &[u8],
) -> Result<DocumentText, DocumentError> {
    let command = ProgramCommand {
        program: program.0.clone(),
        arguments: vec![ARGUMENT.into()],
        environment: Vec::new(),
        directory: None,
    };
    let mut written = Vec::new();
    let reading = run(launcher, &command, pdf, TEXT_LIMIT, &mut written);
    let end = match timeout(PATIENCE, reading).await {
        Ok(Ok(finished)) => finished.end,
        Ok(Err(RunError::TooMuch(_))) | Err(_) => return beginning(written),
        Ok(Err(error)) => return Err(DocumentError::NotRead(error.to_string())),
    };
    let End::Status(status) = end else {
        return Err(DocumentError::NotRead(end.to_string()));
    };
    // One that was ended by a signal has no code: it met a limit.
    let Some(outcome) = status.code() else {
        return beginning(written);
    };
    let is_cut = match Outcome::of(outcome) {
        Some(Outcome::Whole) => false,
        Some(Outcome::Cut) => true,
        Some(Outcome::Locked) => return Err(DocumentError::Locked),
        Some(Outcome::NoText) => return Err(DocumentError::NoText),
        Some(Outcome::NoLetters) => return Err(DocumentError::NoLetters),
        Some(Outcome::Broken) => return Err(DocumentError::Broken),
        Some(Outcome::TooMuch) => return Err(DocumentError::TooMuch),
        None => return Err(DocumentError::NotRead(end.to_string())),
    };
    match String::from_utf8(written) {
        Ok(text) => Ok(DocumentText { text, is_cut }),
        Err(_) => Err(DocumentError::Broken),
    }
}

/// What a reader had written when it was ended: worth more than nothing.
fn beginning(mut written: Vec<u8>) -> Result<DocumentText, DocumentError> {
    // It may have been ended in the middle of a letter.
    let whole = std::str::from_utf8(&written).map_or_else(|error| error.valid_up_to(), str::len);
    written.truncate(whole);
    match String::from_utf8(written) {
        Ok(text) if !text.trim().is_empty() => Ok(DocumentText { text, is_cut: true }),
        Ok(_) | Err(_) => Err(DocumentError::TooMuch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_ends_with_a_whole_letter() {
        let read = beginning(b"gr\xc3".to_vec()).unwrap();
        assert_eq!((read.text.as_str(), read.is_cut), ("gr", true));
        for nothing in [&b""[..], b"\n", b"\xc3"] {
            let error = beginning(nothing.to_vec()).unwrap_err();
            assert!(matches!(error, DocumentError::TooMuch), "{error}");
        }
    }
}
