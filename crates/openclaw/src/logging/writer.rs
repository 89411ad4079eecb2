//! Writers that pass each finished line through the redactor.

use std::cell::Cell;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use openclaw_secrets::Redactor;
use tracing_subscriber::fmt::MakeWriter;

use crate::logging::file::LogFile;

/// Lines for stderr.
#[derive(Clone)]
pub(crate) struct StderrSink {
    redactor: Redactor,
}

impl StderrSink {
    pub(crate) fn new(redactor: &Redactor) -> Self {
        Self {
            redactor: redactor.clone(),
        }
    }
}

impl<'a> MakeWriter<'a> for StderrSink {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for StderrSink {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        io::stderr().write_all(&self.redactor.redact_bytes(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Lines for the log file of a state directory.
///
/// The directory is made at the first line, so that a command with nothing to log leaves no trace.
#[derive(Clone)]
pub(crate) struct FileSink {
    redactor: Redactor,
    log: Arc<Mutex<LogFile>>,
}

impl FileSink {
    pub(crate) fn new(state: &Path, redactor: &Redactor) -> Self {
        Self {
            redactor: redactor.clone(),
            log: Arc::new(Mutex::new(LogFile::new(state))),
        }
    }

    /// Does something with the file; nothing where this thread is at it already.
    fn exclusively<T>(&self, work: impl FnOnce(&mut LogFile) -> T) -> Option<T> {
        let _turn = Turn::begin()?;
        // What a panic left behind is one line less, not a reason to log no more.
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        Some(work(&mut log))
    }
}

impl<'a> MakeWriter<'a> for FileSink {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for FileSink {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // Before the lock is taken, so that nobody waits for it.
        let redacted = self.redactor.redact_bytes(line);
        if let Some(Some(error)) = self.exclusively(|log| log.write(&redacted)) {
            let text = format!("warning: nothing is logged to a file: {error}\n");
            // Work goes on without a log, but not in silence.
            let _ = io::stderr().write_all(self.redactor.redact(&text).as_bytes());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

thread_local! {
    static AT_IT: Cell<bool> = const { Cell::new(false) };
}

/// The time in which this thread may hold the lock of the log.
///
/// A panic in that time is reported by the panic hook, while the lock is still held and on the
/// same thread: the hook would wait for itself. Its line is left out; it was said on stderr.
struct Turn;

impl Turn {
    fn begin() -> Option<Self> {
        (!AT_IT.replace(true)).then_some(Self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        AT_IT.set(false);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use openclaw_secrets::Secret;
    use openclaw_state::layout;

    use super::*;

    #[test]
    fn a_secret_reaches_the_file_only_as_a_mark() {
        let directory = tempfile::tempdir().unwrap();
        let redactor = Redactor::new();
        let learned = redactor.learn(&Secret::new("tr0ub4dor&3 horse"));
        assert_eq!(learned, openclaw_secrets::Learned::Added);
        let mut sink = FileSink::new(directory.path(), &redactor);
        sink.write_all(b"{\"message\":\"got tr0ub4dor&3 horse\"}\n")
            .unwrap();
        let text = std::fs::read_to_string(directory.path().join(layout::LOG)).unwrap();
        assert_eq!(text, "{\"message\":\"got [REDACTED]\"}\n");
    }

    #[test]
    fn a_line_from_within_the_log_itself_is_left_out_instead_of_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let sink = FileSink::new(directory.path(), &Redactor::new());
        let (done, is_done) = mpsc::channel();
        let mut inner = sink.clone();
        std::thread::spawn(move || {
            // As the panic hook does it: on the same thread, while the lock is held.
            sink.exclusively(|log| {
                inner.write_all(b"inner\n").unwrap();
                log.write(b"outer\n")
            });
            done.send(sink).unwrap();
        });
        let mut sink = is_done.recv_timeout(Duration::from_secs(10)).unwrap();
        sink.write_all(b"after\n").unwrap();
        let text = std::fs::read_to_string(directory.path().join(layout::LOG)).unwrap();
        assert_eq!(text, "outer\nafter\n");
    }

    #[test]
    fn a_panic_in_the_log_does_not_end_it() {
        let directory = tempfile::tempdir().unwrap();
        let mut sink = FileSink::new(directory.path(), &Redactor::new());
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            // Unwinds without the panic hook, which other tests change.
            sink.exclusively(|_| std::panic::resume_unwind(Box::new(())))
        }));
        assert!(result.is_err());
        sink.write_all(b"after\n").unwrap();
        let text = std::fs::read_to_string(directory.path().join(layout::LOG)).unwrap();
        assert_eq!(text, "after\n");
    }
}
