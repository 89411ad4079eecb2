//! The files a configuration is read from, and places in them.

use std::path::{Path, PathBuf};

use openclaw_state::{ReadError, read_bounded};
use thiserror::Error;

/// A file of the configuration: the main one or an included one.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// Whether its lines may be shown; those of a `.env` file are secrets.
    pub(crate) is_shown: bool,
    is_ascii: bool,
    line_starts: Vec<usize>,
}

/// A one-based place in a file, columns counted in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

/// A range of bytes in one of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    pub(crate) file: FileId,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The number of a file in its [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId(usize);

impl FileId {
    pub(crate) fn number(self) -> usize {
        self.0
    }
}

/// All files of one configuration, in the order in which they were read.
#[derive(Debug, Default)]
pub(crate) struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    pub(crate) fn add(&mut self, path: PathBuf, text: String) -> FileId {
        self.add_file(path, text, true)
    }

    /// Adds a file whose lines are not shown.
    pub(crate) fn add_hidden(&mut self, path: PathBuf, text: String) -> FileId {
        self.add_file(path, text, false)
    }

    fn add_file(&mut self, path: PathBuf, text: String, is_shown: bool) -> FileId {
        let line_starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(index, _)| index + 1))
            .collect();
        self.files.push(SourceFile {
            path,
            is_shown,
            is_ascii: text.is_ascii(),
            text,
            line_starts,
        });
        FileId(self.files.len() - 1)
    }

    /// Whether this stands in one of the files.
    pub(crate) fn contain(&self, text: &str) -> bool {
        self.files.iter().any(|file| file.text.contains(text))
    }

    pub(crate) fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0]
    }
}

impl SourceFile {
    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let line = self
            .line_starts
            .partition_point(|start| *start <= offset)
            .saturating_sub(1);
        let start = self.line_starts[line];
        Position {
            line: line + 1,
            // Counting the characters of a line of megabytes for every mistake in it takes long.
            column: 1 + if self.is_ascii {
                offset - start
            } else {
                self.text[start..offset].chars().count()
            },
        }
    }

    /// Where a line begins, counted from 1.
    pub(crate) fn line_start(&self, line: usize) -> usize {
        let index = line.saturating_sub(1).min(self.line_starts.len() - 1);
        self.line_starts[index]
    }
}

/// Why a file could not be read as text.
#[derive(Debug, Error)]
pub(crate) enum SourceError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(
        "{} is not UTF-8 text: byte 0x{byte:02x} at line {}, column {}",
        path.display(), position.line, position.column
    )]
    NotText {
        path: PathBuf,
        byte: u8,
        position: Position,
    },
}

/// Reads a text file of bounded size; a byte order mark is dropped.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, SourceError> {
    let text = String::from_utf8(read_bounded(path, limit)?).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..valid]);
        SourceError::NotText {
            path: path.to_owned(),
            byte: error.as_bytes()[valid],
            position: Position {
                line: before.matches('\n').count() + 1,
                column: before
                    .rsplit('\n')
                    .next()
                    .map_or(0, |line| line.chars().count())
                    + 1,
            },
        }
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let mut map = SourceMap::default();
        let id = map.add(PathBuf::from("a"), "é1\nxü!".to_owned());
        let position = |offset| {
            let position = map.file(id).position(offset);
            (position.line, position.column)
        };
        assert_eq!(position(0), (1, 1));
        assert_eq!(position(2), (1, 2));
        assert_eq!(position(4), (2, 1));
        assert_eq!(position(7), (2, 3));
        assert_eq!(position(1000), (2, 4));
    }

    #[test]
    fn invalid_utf8_is_named_with_its_place() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.json");
        std::fs::write(&path, b"{\n  \"a\": \"\xff\"}").unwrap();
        let error = read_text(&path, 100).unwrap_err();
        assert!(
            error.to_string().contains("0xff at line 2, column 9"),
            "{error}"
        );
    }
}
