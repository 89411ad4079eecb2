//! Where lines end.

use std::path::PathBuf;
use std::sync::Arc;

use memchr::memchr;

use super::Incoming;
use super::limits::Limits;
use super::line::{Line, Settings};

/// A larger buffer is given back once its line has ended.
const KEPT: usize = 256 * 1024;

/// Makes messages of bytes, however these are cut into pieces.
pub(super) struct Scanner {
    settings: Arc<Settings>,
    line: Line,
}

impl Scanner {
    /// A scanner that puts attachments into files of a directory.
    pub(super) fn new(limits: Limits, directory: PathBuf) -> Self {
        let settings = Arc::new(Settings { limits, directory });
        Self {
            line: Line::new(Arc::clone(&settings)),
            settings,
        }
    }

    /// Takes bytes up to the next line feed, and leaves the rest. Returns what the line amounts to, if
    /// it has ended and is not blank.
    pub(super) fn push(&mut self, bytes: &mut &[u8]) -> Option<Incoming> {
        let Some(end) = memchr(b'\n', bytes) else {
            self.line.push(std::mem::take(bytes));
            return None;
        };
        // What stands before a line feed is white space if it is a carriage return.
        self.line.push(&bytes[..end]);
        *bytes = &bytes[end + 1..];
        self.end()
    }

    /// Ends the line, as a line feed or the end of all lines does.
    pub(super) fn end(&mut self) -> Option<Incoming> {
        let settings = Arc::clone(&self.settings);
        let ended = std::mem::replace(&mut self.line, Line::new(settings));
        let (incoming, buffer) = ended.finish();
        if buffer.capacity() <= KEPT {
            self.line.reuse(buffer);
        }
        incoming
    }
}
