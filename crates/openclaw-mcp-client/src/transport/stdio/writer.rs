//! Writing lines to a program that may not read them.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use thiserror::Error;
use tokio::io::AsyncWrite;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::traffic::Outbox;

/// How many bytes may wait to be written before more has to wait itself.
const QUEUE_BYTES: usize = 16 * 1024 * 1024;
/// How many lines may.
const QUEUE_LINES: usize = 4_096;
/// How many bytes of answers to the server's own requests may wait: they are not worth waiting for.
const ANSWER_BYTES: usize = 256 * 1024;

/// Up to how many bytes a line and its end are put together before they are written: for those that are
/// small, copying costs less than what the system does for two parts.
const TOGETHER: usize = 1024;

/// Why a line was not taken.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum WriteError {
    /// So much waits already that there is no room.
    #[error("it does not read what it is sent")]
    Full,
    /// The program closed its input, or is gone.
    #[error("it has closed its input")]
    Closed,
}

/// Writes whole lines, in order, whoever gives up waiting meanwhile.
///
/// A line goes straight into the pipe where there is room, so that the usual small request costs
/// one system call and no switch of tasks. What does not fit is written by [`LineWriter::flush`].
pub(crate) struct LineWriter<W> {
    state: Mutex<State<W>>,
    more: Notify,
    room: Notify,
}

struct State<W> {
    pipe: Option<W>,
    queue: VecDeque<Bytes>,
    queued: usize,
}

impl<W: AsyncWrite + Unpin + Send> LineWriter<W> {
    pub(crate) fn new(pipe: W) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                pipe: Some(pipe),
                queue: VecDeque::new(),
                queued: 0,
            }),
            more: Notify::new(),
            room: Notify::new(),
        })
    }

    /// Takes a line, waiting for room as long as the caller likes.
    pub(crate) async fn write(&self, line: &Bytes) -> Result<(), WriteError> {
        loop {
            let room = self.room.notified();
            tokio::pin!(room);
            // Registered before the attempt, so that room that is made in between is not missed.
            room.as_mut().enable();
            match self.try_write(line, QUEUE_BYTES) {
                Err(WriteError::Full) => room.await,
                other => return other,
            }
        }
    }

    /// Takes a line if there is any room, without waiting; else it is lost.
    pub(crate) fn write_soon(&self, line: &Bytes) {
        // A queue that is filled by one large request still takes the word that it is not wanted.
        let _ = self.try_write(line, 2 * QUEUE_BYTES);
    }

    /// Takes a line if no more than `limit` bytes wait already.
    fn try_write(&self, line: &Bytes, limit: usize) -> Result<(), WriteError> {
        let mut state = self.lock();
        if state.pipe.is_none() {
            return Err(WriteError::Closed);
        }
        if state.queue.is_empty() {
            return match state.write_through(line) {
                Ok(true) => Ok(()),
                Ok(false) => {
                    drop(state);
                    self.more.notify_one();
                    Ok(())
                }
                Err(_) => {
                    drop(state);
                    self.close();
                    Err(WriteError::Closed)
                }
            };
        }
        if state.queued + line.len() > limit || state.queue.len() >= QUEUE_LINES {
            return Err(WriteError::Full);
        }
        state.push(line.clone());
        state.push(Bytes::from_static(b"\n"));
        Ok(())
    }

    /// Writes what waits, for ever; returns when the program does not read for `patience`, or has
    /// closed its input.
    pub(crate) async fn flush(&self, patience: Duration) -> WriteError {
        loop {
            self.more.notified().await;
            loop {
                let step = std::future::poll_fn(|context| self.lock().poll_flush(context));
                match timeout(patience, step).await {
                    Ok(Ok(more)) => {
                        self.room.notify_waiters();
                        if !more {
                            break;
                        }
                    }
                    Ok(Err(_)) => {
                        self.close();
                        return WriteError::Closed;
                    }
                    Err(_) => {
                        self.close();
                        return WriteError::Full;
                    }
                }
            }
        }
    }

    /// Closes the program's input; what waits is dropped.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.queue.clear();
        state.queued = 0;
        drop(state.pipe.take());
        drop(state);
        self.room.notify_waiters();
        self.more.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: AsyncWrite + Unpin + Send> State<W> {
    /// Writes a line as far as it goes without waiting and queues the rest; `false` if there is any.
    fn write_through(&mut self, line: &Bytes) -> io::Result<bool> {
        let Some(pipe) = &mut self.pipe else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        // Nobody is woken when there is room again: `poll_flush` asks again, with its own waker.
        let mut context = Context::from_waker(Waker::noop());
        let whole = line.len() + 1;
        let mut together = [0; TOGETHER];
        let small = together.get_mut(..whole).map(|small| {
            small[..line.len()].copy_from_slice(line);
            small[line.len()] = b'\n';
            &*small
        });
        let mut done = 0;
        while done < whole {
            let pipe = Pin::new(&mut *pipe);
            let written = match small {
                Some(small) => pipe.poll_write(&mut context, &small[done..]),
                None => {
                    let rest = IoSlice::new(&line[done.min(line.len())..]);
                    pipe.poll_write_vectored(&mut context, &[rest, IoSlice::new(b"\n")])
                }
            };
            match written {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(count)) => done += count,
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => break,
            }
        }
        if done == whole {
            return Ok(true);
        }
        self.push(line.slice(done.min(line.len())..));
        self.push(Bytes::from_static(b"\n"));
        Ok(false)
    }

    /// Writes once; the result says whether more waits.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let Some(pipe) = &mut self.pipe else {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        };
        let Some(first) = self.queue.front_mut() else {
            return Poll::Ready(Ok(false));
        };
        let count = match Pin::new(pipe).poll_write(context, first) {
            Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            Poll::Ready(Ok(count)) => count,
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => return Poll::Pending,
        };
        self.queued -= count;
        if count == first.len() {
            self.queue.pop_front();
        } else {
            let _ = first.split_to(count);
        }
        Poll::Ready(Ok(!self.queue.is_empty()))
    }

    fn push(&mut self, part: Bytes) {
        if !part.is_empty() {
            self.queued += part.len();
            self.queue.push_back(part);
        }
    }
}

impl<W: AsyncWrite + Unpin + Send> Outbox for LineWriter<W> {
    fn send_soon(&self, message: Bytes) -> bool {
        self.try_write(&message, ANSWER_BYTES).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, duplex};

    use super::*;

    #[tokio::test]
    async fn lines_stay_whole_when_the_reader_is_slow() {
        let (ours, mut theirs) = duplex(7);
        let writer = LineWriter::new(ours);
        let flushing = tokio::spawn({
            let writer = writer.clone();
            async move { writer.flush(Duration::from_secs(5)).await }
        });
        for line in ["one", "a longer line than fits", "", "three"] {
            writer
                .write(&Bytes::from_static(line.as_bytes()))
                .await
                .unwrap();
        }
        let expected = "one\na longer line than fits\n\nthree\n";
        let mut read = vec![0; expected.len()];
        theirs.read_exact(&mut read).await.unwrap();
        assert_eq!(String::from_utf8(read).unwrap(), expected);
        writer.close();
        assert_eq!(flushing.await.unwrap(), WriteError::Closed);
        assert_eq!(
            writer.write(&Bytes::from_static(b"late")).await,
            Err(WriteError::Closed)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_that_never_reads_is_given_up_on() {
        let (ours, _theirs) = duplex(16);
        let writer = LineWriter::new(ours);
        let large = Bytes::from(vec![b'x'; QUEUE_BYTES]);
        writer.write(&large).await.unwrap();
        // There is no room for an answer, and nobody waits for one.
        assert!(!writer.send_soon(Bytes::from_static(b"answer")));
        let waiting = tokio::spawn({
            let writer = writer.clone();
            async move { writer.write(&Bytes::from_static(&[b'y'; 64])).await }
        });
        assert_eq!(
            writer.flush(Duration::from_secs(30)).await,
            WriteError::Full
        );
        assert_eq!(waiting.await.unwrap(), Err(WriteError::Closed));
    }
}
