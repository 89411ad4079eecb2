//! Reading lines from a program that may write anything.

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::wire::{MESSAGE_LIMIT, ReplyId};

/// How much is read at once where a line begins. Most are shorter, and a server that says nothing should
/// not hold more.
const FIRST: usize = 4 * 1024;
/// How much is read at once where a line goes on.
const CHUNK: usize = 16 * 1024;
/// How large a buffer may stay once its line is read. The list of tools is longer than most answers, and
/// is the first that each server gives.
const KEEP: usize = 8 * 1024;
/// How long a line is at most that is copied, so that the buffer is free for the next one.
const COPIED: usize = 1024;
/// How much of a line that is too long is looked at for the request that it answers.
const ENDS: usize = 256;
/// How much of a line that is too long is passed over before the program is given up on.
const SKIP_LIMIT: usize = 1024 * 1024 * 1024;

/// What was read.
#[derive(Debug)]
pub(crate) enum Line {
    /// A line, without its end.
    Whole(Bytes),
    /// A line that was longer than a message may be, and the request that it seems to answer.
    TooLong(ReplyId),
    /// The end; `cut` if in the middle of a line.
    End { cut: bool },
    /// A line that does not end.
    Endless,
}

/// Cuts a stream into lines.
pub(crate) struct LineReader<R> {
    stream: R,
    buffer: BytesMut,
    /// How much of the buffer is known to have no end of line.
    scanned: usize,
    skipping: Option<Skipping>,
}

/// A line that is too long, while it is passed over.
struct Skipping {
    start: Bytes,
    /// The last bytes, at least as many as are looked at.
    end: Vec<u8>,
    passed: usize,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(stream: R) -> Self {
        Self {
            stream,
            buffer: BytesMut::new(),
            scanned: 0,
            skipping: None,
        }
    }

    /// Reads the next line.
    pub(crate) async fn next(&mut self) -> Line {
        loop {
            if let Some(found) = memchr(b'\n', &self.buffer[self.scanned..]) {
                let line = self.take(self.scanned + found);
                if self.skipping.is_none() && line.len() <= MESSAGE_LIMIT {
                    return Line::Whole(line);
                }
                let mut skipping = self.skipping.take().unwrap_or_else(|| Skipping::of(&line));
                skipping.pass(&line);
                return Line::TooLong(skipping.answered());
            }
            self.scanned = self.buffer.len();
            if self.scanned > MESSAGE_LIMIT || self.skipping.is_some() {
                let rest = std::mem::take(&mut self.buffer);
                self.scanned = 0;
                let skipping = self.skipping.get_or_insert_with(|| Skipping::of(&rest));
                skipping.pass(&rest);
                if skipping.passed > SKIP_LIMIT {
                    return Line::Endless;
                }
            }
            let is_new = self.buffer.is_empty() && self.skipping.is_none();
            self.buffer.reserve(if is_new { FIRST } else { CHUNK });
            match self.stream.read_buf(&mut self.buffer).await {
                Ok(1..) => {}
                Ok(0) | Err(_) => {
                    let cut = !self.buffer.is_empty() || self.skipping.is_some();
                    return Line::End { cut };
                }
            }
        }
    }

    /// Takes a line of `length` bytes off the front, its end too.
    fn take(&mut self, length: usize) -> Bytes {
        if length <= COPIED {
            let line = Bytes::copy_from_slice(&self.buffer[..length]);
            self.buffer.advance(length + 1);
            self.scanned = 0;
            return line;
        }
        let mut line = self.buffer.split_to(length + 1);
        line.truncate(length);
        self.scanned = 0;
        if line.len() > KEEP {
            // The rest must not hold on to the memory of a large line.
            self.buffer = BytesMut::from(&self.buffer[..]);
        }
        line.freeze()
    }
}

impl Skipping {
    /// A line that begins so, of which nothing has been passed over yet.
    fn of(start: &[u8]) -> Self {
        Self {
            start: Bytes::copy_from_slice(&start[..ENDS.min(start.len())]),
            end: Vec::new(),
            passed: 0,
        }
    }

    fn pass(&mut self, part: &[u8]) {
        self.passed += part.len();
        self.end
            .extend_from_slice(&part[part.len().saturating_sub(ENDS)..]);
        let surplus = self.end.len().saturating_sub(ENDS);
        self.end.drain(..surplus);
    }

    /// The request that the line answers, as far as its two ends tell.
    fn answered(&self) -> ReplyId {
        let found = identifier(&self.start).or_else(|| identifier(&self.end));
        found.map_or(ReplyId::Missing, ReplyId::Ours)
    }
}

/// Finds `"id": N` of the outermost object: at the front, before any other object begins, or at
/// the back, after all others have ended.
fn identifier(text: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(text);
    let front = text
        .strip_prefix('{')
        .map(|rest| match rest.find(['{', '[']) {
            Some(end) => &rest[..end],
            None => rest,
        });
    let back = text
        .trim_end()
        .strip_suffix('}')
        .map(|rest| match rest.rfind(['}', ']']) {
            Some(start) => &rest[start..],
            None => rest,
        });
    [front, back].into_iter().flatten().find_map(|part| {
        let (_, after) = part.split_once("\"id\"")?;
        let after = after.trim_start().strip_prefix(':')?.trim_start();
        let after = after.strip_prefix('"').unwrap_or(after);
        let end = after.find(|c: char| !c.is_ascii_digit())?;
        after[..end].parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test]
    async fn lines_are_found_in_any_cut() {
        let text = b"one\n\ntwo three\r\nhalf";
        for size in 1..text.len() {
            let (mut theirs, ours) = tokio::io::duplex(size);
            let writing = tokio::spawn(async move {
                theirs.write_all(text).await.unwrap();
            });
            let mut reader = LineReader::new(ours);
            for expected in ["one", "", "two three\r"] {
                match reader.next().await {
                    Line::Whole(line) => assert_eq!(line, expected),
                    other => panic!("{other:?}"),
                }
            }
            assert!(matches!(reader.next().await, Line::End { cut: true }));
            writing.await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_costs_only_itself() {
        let filling = "x".repeat(MESSAGE_LIMIT);
        for long in [
            format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"id":8,"t":"{filling}"}}}}"#),
            format!(r#"{{"result":{{"id":8,"t":"{filling}"}},"jsonrpc":"2.0","id":"7"}}"#),
        ] {
            let text = format!("{long}\nnext\n");
            let mut reader = LineReader::new(text.as_bytes());
            let first = reader.next().await;
            assert!(matches!(first, Line::TooLong(ReplyId::Ours(7))));
            assert!(matches!(reader.next().await, Line::Whole(line) if line == "next"));
            assert!(matches!(reader.next().await, Line::End { cut: false }));
        }
    }

    #[tokio::test]
    async fn a_large_line_leaves_no_large_buffer() {
        let text = format!("{}\nnext\n", "x".repeat(1_000_000));
        let mut reader = LineReader::new(text.as_bytes());
        assert!(matches!(reader.next().await, Line::Whole(line) if line.len() == 1_000_000));
        assert!(
            reader.buffer.capacity() < KEEP,
            "{}",
            reader.buffer.capacity()
        );
        assert!(matches!(reader.next().await, Line::Whole(line) if line == "next"));
    }
}
