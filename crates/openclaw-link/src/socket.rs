//! The socket of a gateway: who may call, bytes and descriptors.

#[cfg(not(unix))]
#[path = "socket/elsewhere.rs"]
mod system;
#[cfg(unix)]
#[path = "socket/unix/mod.rs"]
mod system;

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;

pub(crate) use self::system::{Socket, Spot, Stream};
use crate::frames::FrameReader;

/// The name of the socket in the state directory.
pub const SOCKET_NAME: &str = "gateway.sock";

/// How long the other side may read nothing while something waits for it. Somebody may have stopped it
/// to look at something else.
const STALL: Duration = Duration::from_mins(5);

/// How many sets of descriptors may wait for the messages that they came with.
const MOST_SETS: usize = 16;

/// Descriptors that came with one message.
#[derive(Default)]
struct FileSet {
    files: Vec<Arc<File>>,
    /// Whether some of them were lost: we may have as many open as we can.
    is_cut: bool,
}

/// What was received of a stream and is not used yet.
#[derive(Default)]
struct Received {
    frames: FrameReader,
    files: VecDeque<FileSet>,
    is_over: bool,
}

/// The side of a stream that is read.
pub(crate) struct Reading {
    stream: Arc<Stream>,
    received: Received,
}

/// The side of a stream that is written.
pub(crate) struct Writing {
    stream: Arc<Stream>,
}

impl Stream {
    /// Both sides of it.
    pub(crate) fn split(self) -> (Reading, Writing) {
        let stream = Arc::new(self);
        let writing = Writing {
            stream: Arc::clone(&stream),
        };
        let received = Received::default();
        (Reading { stream, received }, writing)
    }
}

impl Reading {
    /// The next message; none when the other side is gone. Nothing is lost when this is dropped.
    pub(crate) async fn frame(&mut self, limit: usize) -> io::Result<Option<Bytes>> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        loop {
            if let Some(message) = self.received.frames.take(limit).map_err(invalid)? {
                return Ok(Some(message));
            }
            if self.received.is_over {
                return Ok(None);
            }
            self.stream.receive(&mut self.received).await?;
            if self.received.files.len() > MOST_SETS {
                let message = "there are more descriptors than messages";
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
        }
    }

    /// The files that came with the last message, if they are as many and all of them are here.
    pub(crate) fn take_files(&mut self, count: usize) -> Option<Vec<Arc<File>>> {
        // Descriptors arrive with the first byte of their message at the latest, and in the order of
        // the messages: the first set is that of the first message that speaks of files.
        let set = self.received.files.pop_front()?;
        (!set.is_cut && set.files.len() == count).then_some(set.files)
    }
}

impl Writing {
    /// Writes all bytes; descriptors go with the first of them.
    pub(crate) async fn bytes(&mut self, bytes: &[u8], files: &[Arc<File>]) -> io::Result<()> {
        let mut rest = bytes;
        let mut files = files;
        while !rest.is_empty() {
            let written = timeout(STALL, self.stream.send(rest, files)).await;
            let written = written.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
            rest = rest.get(written..).unwrap_or_default();
            files = &[];
        }
        Ok(())
    }
}
