//! What goes out, in its order, on a thread of its own: a client that does not read holds up nobody
//! but itself.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::ServerJsonRpcMessage;
use serde::Serialize;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// How many messages may wait before nothing more is taken in.
const ROOM: usize = 64;
/// How long a client may read nothing of what waits for it. Meanwhile nothing is read from it either, so
/// that it can't be seen whether it has hung up.
const PATIENCE: Duration = Duration::from_mins(1);
/// How much is written at once.
const BUFFER: usize = 64 * 1024;

/// Hands messages to the thread that writes them.
#[derive(Clone)]
pub(super) struct Writer {
    lines: mpsc::UnboundedSender<Line>,
    waiting: Arc<Waiting>,
    broken: CancellationToken,
}

/// How many messages wait to be written.
#[derive(Default)]
struct Waiting {
    count: AtomicUsize,
    fewer: Notify,
}

struct Line {
    /// Nothing, where somebody only waits for what is before it.
    content: Option<Outgoing>,
    written: oneshot::Sender<io::Result<()>>,
}

/// What goes out on one line.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Outgoing {
    /// A message.
    One(Box<ServerJsonRpcMessage>),
    /// The answers to a batch.
    Batch(Vec<ServerJsonRpcMessage>),
}

impl From<ServerJsonRpcMessage> for Outgoing {
    fn from(message: ServerJsonRpcMessage) -> Self {
        Self::One(Box::new(message))
    }
}

impl Writer {
    /// Starts the thread. It ends with the last handle, or with the first failure, which `broken` is
    /// told.
    pub(super) fn start(
        output: Box<dyn Write + Send>,
        broken: CancellationToken,
    ) -> io::Result<Self> {
        let (lines, queue) = mpsc::unbounded_channel();
        let waiting = Arc::new(Waiting::default());
        let thread = Thread {
            output: BufWriter::with_capacity(BUFFER, output),
            waiting: Arc::clone(&waiting),
            broken: broken.clone(),
        };
        std::thread::Builder::new()
            .name("stdout".to_owned())
            .spawn(move || thread.run(queue))?;
        Ok(Self {
            lines,
            waiting,
            broken,
        })
    }

    /// Writes something after all before it. It has its place as soon as this returns, whether or not
    /// somebody waits for it.
    pub(super) fn write(
        &self,
        content: Outgoing,
    ) -> impl Future<Output = io::Result<()>> + Send + use<> {
        self.enqueue(Some(content))
    }

    /// Waits until everything before it is written, or can't be.
    pub(super) fn drained(&self) -> impl Future<Output = io::Result<()>> + Send + use<> {
        self.enqueue(None)
    }

    fn enqueue(
        &self,
        content: Option<Outgoing>,
    ) -> impl Future<Output = io::Result<()>> + Send + use<> {
        let (written, done) = oneshot::channel();
        self.waiting.count.fetch_add(1, Ordering::AcqRel);
        // Where the thread is gone, the other end of `done` is, too.
        let _ = self.lines.send(Line { content, written });
        async move {
            let done = done.await;
            done.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::BrokenPipe)))
        }
    }

    /// Waits until the client has read some of what was written, if much is waiting and more may come
    /// in. One that reads nothing for a long time counts as gone.
    pub(super) async fn has_room(&self, ended: &CancellationToken) {
        loop {
            let fewer = self.waiting.fewer.notified();
            if self.waiting.count.load(Ordering::Acquire) < ROOM || self.is_broken() {
                return;
            }
            tokio::select! {
                () = fewer => {}
                () = self.broken.cancelled() => return,
                () = ended.cancelled() => return,
                () = tokio::time::sleep(PATIENCE) => {
                    tracing::warn!("the client does not read what it is told");
                    self.broken.cancel();
                }
            }
        }
    }

    /// Whether nothing can be written any more.
    pub(super) fn is_broken(&self) -> bool {
        self.broken.is_cancelled()
    }
}

struct Thread {
    output: BufWriter<Box<dyn Write + Send>>,
    waiting: Arc<Waiting>,
    broken: CancellationToken,
}

impl Thread {
    fn run(mut self, mut queue: mpsc::UnboundedReceiver<Line>) {
        while let Some(line) = queue.blocking_recv() {
            let written = match &line.content {
                Some(content) => self.write(content),
                None => Ok(()),
            };
            self.waiting.count.fetch_sub(1, Ordering::AcqRel);
            self.waiting.fewer.notify_one();
            let is_broken = written.is_err();
            // Nobody may wait for it.
            let _ = line.written.send(written);
            if is_broken {
                self.broken.cancel();
                return;
            }
        }
    }

    fn write(&mut self, content: &Outgoing) -> io::Result<()> {
        // What is large in it is text that is written as it is, so that nothing is copied here.
        serde_json::to_writer(&mut self.output, content)?;
        self.output.write_all(b"\n")?;
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{RequestId, ServerResult};

    use super::*;

    /// A stream that takes nothing until the test is over.
    struct Stuck(std::sync::mpsc::Receiver<()>);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_for_long_counts_as_gone() {
        let (release, stuck) = std::sync::mpsc::channel();
        let (broken, ended) = (CancellationToken::new(), CancellationToken::new());
        let writer = Writer::start(Box::new(Stuck(stuck)), broken.clone()).unwrap();
        writer.has_room(&ended).await;
        for id in 0..ROOM {
            let id = RequestId::Number(i64::try_from(id).unwrap());
            let message = ServerJsonRpcMessage::response(ServerResult::empty(()), id);
            drop(writer.write(message.into()));
        }
        let begun = tokio::time::Instant::now();
        writer.has_room(&ended).await;
        assert!(broken.is_cancelled());
        assert!(begun.elapsed() >= PATIENCE);
        drop(release);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_room_when_nothing_more_comes_in() {
        let (release, stuck) = std::sync::mpsc::channel();
        let (broken, ended) = (CancellationToken::new(), CancellationToken::new());
        let writer = Writer::start(Box::new(Stuck(stuck)), broken.clone()).unwrap();
        for _ in 0..ROOM {
            drop(writer.drained());
            let message =
                ServerJsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(1));
            drop(writer.write(message.into()));
        }
        ended.cancel();
        writer.has_room(&ended).await;
        assert!(!broken.is_cancelled());
        drop(release);
    }
}
