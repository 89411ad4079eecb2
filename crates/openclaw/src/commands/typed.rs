//! What a person types while a command runs.

use std::future::poll_fn;
use std::io::{BufRead, BufReader, Read as _, stdin};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use tokio::sync::mpsc;

/// How long a line may be, in bytes.
const LONGEST: u64 = 16 * 1024 * 1024;

/// Lines that a person types, each for whoever asks for the next one.
pub(crate) struct Typed(Mutex<mpsc::Receiver<(Instant, Line)>>);

/// A line, as far as it could be read.
type Line = Result<String, TooLong>;

/// A line is longer than any may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Typed {
    /// The lines of the standard input.
    ///
    /// There is one reader for the whole process, which ends with it: nobody can end a reader that
    /// waits, and a second one would take what is meant for the first.
    pub(crate) fn here() -> &'static Self {
        static HERE: OnceLock<Typed> = OnceLock::new();
        HERE.get_or_init(|| Self::read(|| BoundedLines::new(BufReader::new(stdin()))))
    }

    fn read<L: Iterator<Item = Line>>(lines: impl FnOnce() -> L + Send + 'static) -> Self {
        let (sender, receiver) = mpsc::channel(1);
        std::thread::spawn(move || {
            for line in lines() {
                if sender.blocking_send((Instant::now(), line)).is_err() {
                    return;
                }
            }
        });
        Self(Mutex::new(receiver))
    }

    /// Forgets what was typed and not read yet.
    pub(crate) fn forget(&self) {
        forget_keys();
        let lines = self.0.lock();
        let mut lines = lines.unwrap_or_else(PoisonError::into_inner);
        while lines.try_recv().is_ok() {}
    }

    /// The next line; none, once there are no more. Whoever ceases to wait has taken nothing. One that is
    /// too long counts for nothing.
    pub(crate) async fn next(&self) -> Option<String> {
        loop {
            if let Ok(line) = self.next_line().await? {
                return Some(line);
            }
        }
    }

    /// The next line, for whoever has to know of one that is too long.
    pub(crate) async fn next_line(&self) -> Option<Result<String, TooLong>> {
        self.receive().await.map(|(_, line)| line)
    }

    /// The next line that was read after a moment: what was typed before a question stood there is no
    /// answer to it.
    pub(crate) async fn next_since(&self, moment: Instant) -> Option<String> {
        loop {
            let (read, line) = self.receive().await?;
            if let Ok(line) = line
                && read >= moment
            {
                return Some(line);
            }
        }
    }

    async fn receive(&self) -> Option<(Instant, Line)> {
        poll_fn(|context| {
            let lines = self.0.lock();
            let mut lines = lines.unwrap_or_else(PoisonError::into_inner);
            lines.poll_recv(context)
        })
        .await
    }
}

/// Forgets the keys that the terminal has and nobody has read.
pub(crate) fn forget_keys() {
    #[cfg(unix)]
    // Where the input is no terminal, nothing was typed.
    let _ = rustix::termios::tcflush(stdin(), rustix::termios::QueueSelector::IFlush);
}

/// Lines of a stream, none of which is endless.
struct BoundedLines<R> {
    stream: R,
    /// Whether the rest of a line that is too long comes next.
    is_within: bool,
}

impl<R: BufRead> BoundedLines<R> {
    fn new(stream: R) -> Self {
        Self {
            stream,
            is_within: false,
        }
    }
}

impl<R: BufRead> Iterator for BoundedLines<R> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        if std::mem::take(&mut self.is_within) {
            self.stream.skip_until(b'\n').ok()?;
        }
        let mut bytes = Vec::new();
        let mut limited = (&mut self.stream).take(LONGEST + 1);
        // What can't be read is over.
        if limited.read_until(b'\n', &mut bytes).ok()? == 0 {
            return None;
        }
        if bytes.len() as u64 > LONGEST {
            self.is_within = !bytes.ends_with(b"\n");
            return Some(Err(TooLong));
        }
        if bytes.pop_if(|last| *last == b'\n').is_some() {
            bytes.pop_if(|last| *last == b'\r');
        }
        Some(Ok(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

#[cfg(test)]
impl Typed {
    /// Nothing will be typed, for as long as this lives.
    pub(crate) fn never() -> Self {
        Self::read(|| {
            std::iter::repeat_with(|| -> Line {
                loop {
                    std::thread::park();
                }
            })
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io;
    use std::sync::mpsc::{Sender, channel};
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    fn typed() -> (Sender<&'static str>, Typed) {
        let (sender, receiver) = channel::<&'static str>();
        let lines = move || receiver.into_iter().map(|line| Ok(line.to_owned()));
        (sender, Typed::read(lines))
    }

    /// These lines are typed, and no more.
    pub(crate) fn typing(lines: &[&'static str]) -> Typed {
        let lines = lines.to_vec();
        Typed::read(move || lines.into_iter().map(|line| Ok(line.to_owned())))
    }

    #[test]
    fn lines_have_an_end_and_need_not_be_unicode() {
        let lines = |bytes: &'static [u8]| -> Vec<String> {
            BoundedLines::new(bytes).map(Result::unwrap).collect()
        };
        assert_eq!(
            lines(b"one\r\n\ntwo\xff\nthree"),
            ["one", "", "two\u{fffd}", "three"]
        );
        let endless = BufReader::new(io::repeat(b'x'));
        assert_eq!(BoundedLines::new(endless).next(), Some(Err(TooLong)));
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_the_next_one_is_read() {
        let limit = usize::try_from(LONGEST).unwrap();
        for excess in [1, 2, 100_000] {
            let text = format!("one\n{}\ntwo\n", "x".repeat(limit + excess));
            let lines: Vec<Line> = BoundedLines::new(text.as_bytes()).collect();
            let expected = [Ok("one".to_owned()), Err(TooLong), Ok("two".to_owned())];
            assert!(lines == expected, "{excess}: {} lines", lines.len());
        }
    }

    #[test]
    fn what_is_forgotten_is_not_read() {
        let (keyboard, typed) = typed();
        keyboard.send("y").unwrap();
        let queued = || !typed.0.lock().unwrap().is_empty();
        let until = Instant::now() + Duration::from_secs(10);
        while !queued() && Instant::now() < until {
            std::thread::yield_now();
        }
        typed.forget();
        assert!(!queued());
    }

    #[tokio::test]
    async fn who_ceases_to_wait_leaves_the_next_line_to_others() {
        let (keyboard, typed) = typed();
        let waiting = timeout(Duration::from_millis(10), typed.next()).await;
        assert!(waiting.is_err(), "nothing is typed");
        for line in ["first", "second", "third"] {
            keyboard.send(line).unwrap();
        }
        for line in ["first", "second", "third"] {
            assert_eq!(typed.next().await.as_deref(), Some(line));
        }
    }

    #[tokio::test]
    async fn what_was_typed_before_a_question_does_not_answer_it() {
        let (keyboard, typed) = typed();
        keyboard.send("y").unwrap();
        keyboard.send("y").unwrap();
        // The reader has taken both by the time the first is had.
        assert_eq!(typed.next().await.as_deref(), Some("y"));
        let asked = Instant::now() + Duration::from_mins(1);
        drop(keyboard);
        assert_eq!(typed.next_since(asked).await, None);
    }

    #[tokio::test]
    async fn once_there_are_no_more_lines_everybody_is_told_so() {
        let (keyboard, typed) = typed();
        keyboard.send("last").unwrap();
        drop(keyboard);
        assert_eq!(typed.next().await.as_deref(), Some("last"));
        assert_eq!(typed.next().await, None);
        assert_eq!(typed.next().await, None);
    }
}
