//! Writers that pass each finished line through the redactor.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use openclaw_secrets::Redactor;
use openclaw_state::RotatedFile;
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

/// Lines for the log file.
#[derive(Clone)]
pub(crate) struct FileSink {
    redactor: Redactor,
    state: Arc<Mutex<FileState>>,
}

struct FileState {
    log: RotatedFile,
    /// Whether somebody was told that the log can't be written.
    told: bool,
}

impl FileSink {
    pub(crate) fn new(log: RotatedFile, redactor: &Redactor) -> Self {
        Self {
            redactor: redactor.clone(),
            state: Arc::new(Mutex::new(FileState { log, told: false })),
        }
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
        let line_length = line.len();
        let line = self.redactor.redact_bytes(line);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = state.log.write_all(&line)
            && !state.told
        {
            // Work goes on without a log, but not in silence.
            state.told = true;
            let _ = writeln!(io::stderr(), "warning: cannot write the log file: {error}");
        }
        Ok(line_length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .log
            .flush()
    }
}

#[cfg(test)]
mod tests {
    use openclaw_secrets::Secret;

    use super::*;

    #[test]
    fn a_secret_reaches_the_file_only_as_a_mark() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("logs/openclaw.log");
        let redactor = Redactor::new();
        let learned = redactor.learn(&Secret::new("tr0ub4dor&3 horse"));
        assert_eq!(learned, openclaw_secrets::Learned::Added);
        let mut sink = FileSink::new(RotatedFile::new(path.clone(), 1_000, 1), &redactor);
        sink.write_all(b"{\"message\":\"got tr0ub4dor&3 horse\"}\n")
            .unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text, "{\"message\":\"got [REDACTED]\"}\n");
    }

    #[test]
    fn a_log_that_cannot_be_written_stops_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let blocked = directory.path().join("file");
        std::fs::write(&blocked, "").unwrap();
        let log = RotatedFile::new(blocked.join("logs/openclaw.log"), 1_000, 1);
        let mut sink = FileSink::new(log, &Redactor::new());
        sink.write_all(b"line\n").unwrap();
        assert!(sink.state.lock().unwrap().told);
    }
}
