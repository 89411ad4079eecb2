//! The last lines that a program wrote to its standard error.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;

/// How many lines are kept.
const LINES: usize = 200;
/// How many bytes of a line are kept; the rest is dropped.
const LINE_BYTES: usize = 4_096;
/// How much of the end of a line that was cut is looked at for the beginning of a word.
const LONGEST_WORD: usize = 256;
/// How much is read at once. It is kept for as long as the program runs, which most do without a word.
const READ: usize = 4_096;

/// A line that a program wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StderrLine {
    /// Larger than that of every line before it, of whatever program: who has seen one knows by it what
    /// came later, even from a program that was started since.
    pub number: u64,
    /// What it says.
    pub text: String,
}

impl StderrLine {
    /// A line that is the last one now.
    pub fn new(text: String) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| u64::try_from(now.as_micros()).unwrap_or(0));
        // By the clock, so that lines of another run of ours are told apart, too.
        let next = |last: u64| now.max(last + 1);
        let before = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| Some(next(it)));
        let number = next(before.unwrap_or_else(|same| same));
        Self { number, text }
    }
}

/// The last lines of a program's standard error, shared with whoever shows them.
#[derive(Clone, Debug)]
pub struct StderrTail {
    lines: Arc<Mutex<VecDeque<StderrLine>>>,
    /// Its other end is there as long as it is read.
    reading: watch::Receiver<()>,
}

impl StderrTail {
    /// How many lines are kept.
    pub const KEPT: usize = LINES;

    /// Reads until the end, keeping the last lines and passing each on.
    ///
    /// Nothing a program writes makes it wait, and nothing it writes takes more room than a ring.
    pub(crate) fn read(
        mut stream: impl AsyncRead + Unpin + Send + 'static,
        mut heard: impl FnMut(&str) + Send + 'static,
    ) -> Self {
        let (is_read, reading) = watch::channel(());
        let tail = Self {
            lines: Arc::default(),
            reading,
        };
        let kept = tail.clone();
        tokio::spawn(async move {
            let mut found = |line: String| {
                heard(&line);
                kept.push(line);
            };
            let mut splitter = LineSplitter::default();
            let mut buffer = vec![0; READ];
            while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                splitter.push(&buffer[..count], &mut found);
            }
            splitter.finish(&mut found);
            drop(is_read);
        });
        tail
    }

    /// Waits until the program and all that it started have written their last line.
    pub async fn ended(&self) {
        let mut reading = self.reading.clone();
        while reading.changed().await.is_ok() {}
    }

    /// The last lines, the oldest first.
    pub fn lines(&self) -> Vec<StderrLine> {
        self.lock().iter().cloned().collect()
    }

    /// What they say.
    pub fn texts(&self) -> Vec<String> {
        self.lock().iter().map(|line| line.text.clone()).collect()
    }

    fn push(&self, line: String) {
        let mut lines = self.lock();
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(StderrLine::new(line));
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<StderrLine>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cuts bytes into lines of bounded length.
#[derive(Default)]
struct LineSplitter {
    line: Vec<u8>,
    dropped: usize,
}

impl LineSplitter {
    fn push(&mut self, bytes: &[u8], mut found: impl FnMut(String)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.extend(&rest[..end]);
            found(self.take());
            rest = &rest[end + 1..];
        }
        self.extend(rest);
    }

    fn finish(&mut self, found: impl FnOnce(String)) {
        if !self.line.is_empty() {
            found(self.take());
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        let room = LINE_BYTES - self.line.len();
        let kept = room.min(bytes.len());
        self.line.extend_from_slice(&bytes[..kept]);
        self.dropped += bytes.len() - kept;
    }

    fn take(&mut self) -> String {
        let line = std::mem::take(&mut self.line);
        let dropped = std::mem::take(&mut self.dropped);
        let mut text = String::from_utf8_lossy(&line)
            .trim_end_matches('\r')
            .to_owned();
        if dropped > 0 {
            // Half of a credential would not be known as one to whoever hides them.
            let from = text.floor_char_boundary(text.len().saturating_sub(LONGEST_WORD));
            let between = |c: char| c.is_whitespace() || "\"',;=:&".contains(c);
            if let Some(end) = text.get(from..).and_then(|end| end.rfind(between)) {
                text.truncate(from + end);
            }
            text.push_str(&format!("… ({dropped} more bytes)"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::AsyncWriteExt;
    use tokio::time::timeout;

    use super::*;

    async fn tail_of(bytes: &'static [u8]) -> Vec<String> {
        let tail = StderrTail::read(bytes, |_| {});
        tail.ended().await;
        tail.texts()
    }

    #[tokio::test]
    async fn lines_are_kept_in_order_and_the_last_needs_no_end() {
        assert_eq!(
            tail_of(b"one\ntwo\r\n\nthree").await,
            ["one", "two", "", "three"]
        );
        assert_eq!(tail_of(b"\xff\xfe\n").await, ["\u{fffd}\u{fffd}"]);
    }

    #[tokio::test]
    async fn it_is_over_when_the_last_that_can_write_has_let_go() {
        let (mut program, stream) = tokio::io::duplex(64);
        let tail = StderrTail::read(stream, |_| {});
        program.write_all(b"its last wor").await.unwrap();
        let moment = Duration::from_millis(50);
        assert!(timeout(moment, tail.ended()).await.is_err());
        program.write_all(b"ds").await.unwrap();
        drop(program);
        tail.ended().await;
        assert_eq!(tail.texts(), ["its last words"]);
    }

    #[tokio::test]
    async fn a_flood_keeps_its_end_and_a_line_without_end_is_cut() {
        let text: &'static [u8] = (0..100_000)
            .map(|number| format!("{number}\n"))
            .collect::<String>()
            .leak()
            .as_bytes();
        let lines = tail_of(text).await;
        assert_eq!(lines.len(), LINES);
        assert_eq!(lines.last().unwrap(), "99999");
        let long: &'static [u8] = vec![b'x'; 10_000_000].leak();
        let lines = tail_of(long).await;
        assert_eq!(lines.len(), 1);
        assert!(
            lines[0].ends_with("(9995904 more bytes)"),
            "{}",
            lines[0].len()
        );
    }
}
