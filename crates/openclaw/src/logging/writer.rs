//! Writers that pass each finished line through the redactor.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use openclaw_secrets::Redactor;
use openclaw_state::{RotatedFile, StateDirectory, layout};
use tracing_subscriber::fmt::MakeWriter;

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
    log: Arc<Mutex<Log>>,
}

/// How far the log file has come.
enum Log {
    /// Nothing was written yet.
    Unopened(PathBuf),
    Open(RotatedFile),
    /// It can't be written, which somebody was told.
    GivenUp,
}

impl FileSink {
    pub(crate) fn new(state: &Path, redactor: &Redactor) -> Self {
        Self {
            redactor: redactor.clone(),
            log: Arc::new(Mutex::new(Log::Unopened(state.to_owned()))),
        }
    }
}

impl Log {
    fn write(&mut self, line: &[u8]) {
        if let Self::Unopened(state) = self {
            *self = match StateDirectory::open(state) {
                Ok(state) => Self::Open(RotatedFile::new(
                    state.path().join(layout::LOG),
                    layout::LOG_LIMIT,
                    layout::LOG_KEEP,
                )),
                Err(error) => Self::give_up(&error),
            };
        }
        if let Self::Open(file) = self
            && let Err(error) = file.write_all(line)
        {
            *self = Self::give_up(&error);
        }
    }

    /// Work goes on without a log, but not in silence.
    fn give_up(error: &dyn std::fmt::Display) -> Self {
        let _ = writeln!(
            io::stderr(),
            "warning: nothing is logged to a file: {error}"
        );
        Self::GivenUp
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
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write(&self.redactor.redact_bytes(line));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use openclaw_secrets::Secret;

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
    fn a_log_that_cannot_be_written_stops_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let blocked = directory.path().join("file");
        std::fs::write(&blocked, "").unwrap();
        let mut sink = FileSink::new(&blocked, &Redactor::new());
        sink.write_all(b"line\n").unwrap();
        sink.write_all(b"line\n").unwrap();
        assert!(matches!(*sink.log.lock().unwrap(), Log::GivenUp));
    }
}
