//! What is wrong with a file of a skill.

use std::fmt;
use std::path::{Path, PathBuf};

use openclaw_content::shown_line;
use openclaw_state::ReadError;

/// How much of a path is shown, in characters.
const PATH_CHARACTERS: usize = 400;
/// How much of a message is shown, in characters.
const MESSAGE_CHARACTERS: usize = 400;

/// What a problem costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemKind {
    /// A skill, or all that are at a place.
    LeftOut,
    /// No skill: it is worth knowing.
    Remark,
}

/// What is wrong with a skill, or with a directory in which skills are looked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Problem {
    kind: ProblemKind,
    path: PathBuf,
    line: Option<usize>,
    message: String,
}

impl Problem {
    /// A problem with a file or a directory. The message may hold words of the file.
    pub(crate) fn new(kind: ProblemKind, path: &Path, line: Option<usize>, message: &str) -> Self {
        Self {
            kind,
            path: path.to_owned(),
            line,
            message: shown_line(message, MESSAGE_CHARACTERS),
        }
    }

    /// What it costs.
    pub fn kind(&self) -> ProblemKind {
        self.kind
    }

    /// The file or the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The line of the file, counted from 1, where it concerns one.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// What is wrong, in one line that can be shown.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = shown_line(&self.path.display().to_string(), PATH_CHARACTERS);
        formatter.write_str(&path)?;
        if let Some(line) = self.line {
            write!(formatter, ":{line}")?;
        }
        write!(formatter, ": {}", self.message)
    }
}

/// Why a file was not read, after its name has been said.
pub(crate) fn unread(error: &ReadError) -> String {
    match error {
        ReadError::Missing(_) => "it cannot be found".to_owned(),
        ReadError::NotAFile { kind, .. } => format!("it is {kind}, not a file"),
        ReadError::TooLarge { limit, .. } => format!("it is larger than {} KB", limit >> 10),
        ReadError::Io { source, .. } => format!("it cannot be read: {source}"),
    }
}
