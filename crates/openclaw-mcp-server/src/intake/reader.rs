//! The thread that reads, and the way to whoever acts on lines.

use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;
use std::thread;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Incoming;
use super::limits::Limits;
use super::scanner::Scanner;

/// How many bytes are read at once: what a pipe holds, and twice.
const BUFFER: usize = 128 * 1024;
/// How many lines may wait for whoever acts on them. Each may hold files and tens of megabytes.
const WAITING: usize = 4;

/// Reads lines on a thread of its own, and puts the bytes of their attachments into files of a directory
/// that is there.
///
/// The lines have ended when nothing more can be received; `ended` is told as soon as nothing more is
/// read, also while lines wait. The thread ends with the stream, or with the
/// first line that nobody wants; one that waits for its stream can't be stopped, and holds nothing but
/// what has come of a line.
pub(crate) fn start(
    stream: impl Read + Send + 'static,
    spool_directory: PathBuf,
    ended: CancellationToken,
) -> io::Result<mpsc::Receiver<Incoming>> {
    let (sender, receiver) = mpsc::channel(WAITING);
    let scanner = Scanner::new(Limits::TOOL, spool_directory);
    thread::Builder::new()
        .name("mcp-intake".to_owned())
        .spawn(move || {
            let _told = ended.drop_guard();
            if let Err(error) = read(stream, scanner, &sender) {
                tracing::warn!(%error, "the input can't be read to its end");
            }
        })?;
    Ok(receiver)
}

/// Reads until the stream ends or nobody listens. What has come of a line when the stream breaks is not
/// a line.
fn read(
    mut stream: impl Read,
    mut scanner: Scanner,
    listener: &mpsc::Sender<Incoming>,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        let mut bytes = match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => &buffer[..length],
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        while !bytes.is_empty() {
            if let Some(incoming) = scanner.push(&mut bytes)
                && listener.blocking_send(incoming).is_err()
            {
                return Ok(());
            }
        }
    }
    if let Some(incoming) = scanner.end() {
        // Whoever is gone needs no last line.
        let _ = listener.blocking_send(incoming);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// A stream that gives one of these at a time.
    struct Pieces(VecDeque<io::Result<&'static str>>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let piece = self.0.pop_front().unwrap_or(Ok(""))?;
            buffer[..piece.len()].copy_from_slice(piece.as_bytes());
            Ok(piece.len())
        }
    }

    struct Endless;

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer[..2].copy_from_slice(b"1\n");
            Ok(2)
        }
    }

    /// The identifiers of what comes of a stream, up to its end.
    fn identifiers(pieces: impl IntoIterator<Item = io::Result<&'static str>>) -> Vec<u64> {
        let directory = tempfile::tempdir().unwrap();
        let stream = Pieces(pieces.into_iter().collect());
        let mut receiver = start(
            stream,
            directory.path().to_owned(),
            CancellationToken::new(),
        )
        .unwrap();
        let messages = std::iter::from_fn(|| receiver.blocking_recv());
        messages
            .map(|incoming| match incoming {
                Incoming::Message { value, .. } => value["id"].as_u64().unwrap(),
                refused @ Incoming::Refused { .. } => panic!("{refused:?}"),
            })
            .collect()
    }

    #[test]
    fn lines_are_received_until_the_stream_ends() {
        let pieces = [
            Ok("{\"id\":1}\n{\"i"),
            Ok("d\":2"),
            Err(ErrorKind::Interrupted.into()),
            Ok("}\r"),
            Ok("\n\n{\"id\":3}\n{\"id\":4}\n{\"id\":5}\n{\"id\":6}\n{\"id\":7}"),
        ];
        assert_eq!(identifiers(pieces), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(identifiers([]), [] as [u64; 0]);
    }

    #[test]
    fn a_line_that_breaks_off_with_an_error_is_none() {
        let pieces = [
            Ok("{\"id\":1}\n{\"id\":2}"),
            Err(ErrorKind::ConnectionReset.into()),
            Ok("\n{\"id\":3}\n"),
        ];
        assert_eq!(identifiers(pieces), [1]);
    }

    #[test]
    fn reading_ends_when_nobody_listens() {
        let directory = tempfile::tempdir().unwrap();
        let (sender, receiver) = mpsc::channel(1);
        drop(receiver);
        // It has no end of its own.
        let stream = Endless;
        let scanner = Scanner::new(Limits::TOOL, directory.path().to_owned());
        read(stream, scanner, &sender).unwrap();
    }
}
