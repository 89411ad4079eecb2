//! What a person types while a command runs.

use std::future::poll_fn;
use std::io::{self, stdin};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use tokio::sync::mpsc;

/// Lines that a person types, each for whoever asks for the next one.
pub(crate) struct Typed(Mutex<mpsc::Receiver<(Instant, String)>>);

impl Typed {
    /// The lines of the standard input.
    ///
    /// There is one reader for the whole process, which ends with it: nobody can end a reader that
    /// waits, and a second one would take what is meant for the first.
    pub(crate) fn here() -> &'static Self {
        static HERE: OnceLock<Typed> = OnceLock::new();
        HERE.get_or_init(|| Self::read(|| stdin().lines()))
    }

    fn read<L: Iterator<Item = io::Result<String>>>(
        lines: impl FnOnce() -> L + Send + 'static,
    ) -> Self {
        let (sender, receiver) = mpsc::channel(1);
        std::thread::spawn(move || {
            for line in lines().map_while(Result::ok) {
                if sender.blocking_send((Instant::now(), line)).is_err() {
                    return;
                }
            }
        });
        Self(Mutex::new(receiver))
    }

    /// Forgets what was typed and not read yet.
    pub(crate) fn forget() {
        #[cfg(unix)]
        // Where the input is no terminal, nothing was typed.
        let _ = rustix::termios::tcflush(stdin(), rustix::termios::QueueSelector::IFlush);
    }

    /// The next line; none, once there are no more. Whoever ceases to wait has taken nothing.
    pub(crate) async fn next(&self) -> Option<String> {
        self.receive().await.map(|(_, line)| line)
    }

    /// The next line that was read after a moment: what was typed before a question stood there is no
    /// answer to it.
    pub(crate) async fn next_since(&self, moment: Instant) -> Option<String> {
        loop {
            let (read, line) = self.receive().await?;
            if read >= moment {
                return Some(line);
            }
        }
    }

    async fn receive(&self) -> Option<(Instant, String)> {
        poll_fn(|context| {
            let lines = self.0.lock();
            let mut lines = lines.unwrap_or_else(PoisonError::into_inner);
            lines.poll_recv(context)
        })
        .await
    }
}

#[cfg(test)]
impl Typed {
    /// Nothing will be typed, for as long as this lives.
    pub(crate) fn never() -> Self {
        Self::read(|| {
            std::iter::repeat_with(|| -> io::Result<String> {
                loop {
                    std::thread::park();
                }
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    fn typed() -> (Sender<&'static str>, Typed) {
        let (sender, receiver) = channel::<&'static str>();
        let lines = move || receiver.into_iter().map(|line| Ok(line.to_owned()));
        (sender, Typed::read(lines))
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
