//! What a person types while a command runs.

use std::future::poll_fn;
use std::io::{self, stdin};
use std::sync::{Mutex, OnceLock, PoisonError};

use tokio::sync::mpsc;

/// Lines that a person types, each for whoever asks for the next one.
pub(super) struct Typed(Mutex<mpsc::Receiver<String>>);

impl Typed {
    /// The lines of the standard input.
    ///
    /// There is one reader for the whole process, which ends with it: nobody can end a reader that
    /// waits, and a second one would take what is meant for the first.
    pub(super) fn here() -> &'static Self {
        static HERE: OnceLock<Typed> = OnceLock::new();
        HERE.get_or_init(|| Self::read(|| stdin().lines()))
    }

    fn read<L: Iterator<Item = io::Result<String>>>(
        lines: impl FnOnce() -> L + Send + 'static,
    ) -> Self {
        let (sender, receiver) = mpsc::channel(1);
        std::thread::spawn(move || {
            for line in lines().map_while(Result::ok) {
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self(Mutex::new(receiver))
    }

    /// The next line; none, once there are no more. Whoever ceases to wait has taken nothing.
    pub(super) async fn next(&self) -> Option<String> {
        poll_fn(|context| {
            let lines = self.0.lock();
            let mut lines = lines.unwrap_or_else(PoisonError::into_inner);
            lines.poll_recv(context)
        })
        .await
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
    async fn once_there_are_no_more_lines_everybody_is_told_so() {
        let (keyboard, typed) = typed();
        keyboard.send("last").unwrap();
        drop(keyboard);
        assert_eq!(typed.next().await.as_deref(), Some("last"));
        assert_eq!(typed.next().await, None);
        assert_eq!(typed.next().await, None);
    }
}
