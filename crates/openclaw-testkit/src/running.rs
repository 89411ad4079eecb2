//! Starting the fake server from a test, and making sure that it ends.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::journal::JournalReader;

/// How long a server has to say where it listens.
const PATIENCE: Duration = Duration::from_secs(20);

/// A fake server to be: a program and what it is told. It has a journal and a marker of its own.
#[derive(Debug)]
pub struct FakeServer {
    program: PathBuf,
    flags: Vec<OsString>,
    marker: String,
    /// Holds the journal; a server that outlives this can't bring it back.
    directory: PathBuf,
    journal: JournalReader,
}

impl FakeServer {
    /// The fake server that is this program.
    pub fn at(program: &Path) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let moment = since.map_or(0, |since| since.as_micros());
        let marker = format!("openclaw-fake-{}-{count}-{moment}", std::process::id());
        let directory = std::env::temp_dir().join(&marker);
        // Without it there is no journal, and a test that looks into it finds it empty.
        let _ = fs::create_dir(&directory);
        Self {
            program: program.to_owned(),
            flags: Vec::new(),
            marker,
            journal: JournalReader::at(&directory.join("journal.jsonl")),
            directory,
        }
    }

    /// Adds an argument: the mode, a flag, or the value of the flag before it.
    #[must_use]
    pub fn flag(mut self, flag: impl Into<OsString>) -> Self {
        self.flags.push(flag.into());
        self
    }

    /// Adds arguments, as words with spaces between them.
    #[must_use]
    pub fn flags(mut self, words: &str) -> Self {
        let words = words.split_whitespace().map(OsString::from);
        self.flags.extend(words);
        self
    }

    /// The program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Its arguments, with those that make it keep its journal and carry its marker: for tests
    /// that start it themselves.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments = self.flags.clone();
        arguments.push("--journal".into());
        arguments.push(self.journal.path().into());
        arguments.push("--marker".into());
        arguments.push(self.marker.clone().into());
        arguments
    }

    /// What is found in the command lines of the server and of what it starts.
    pub fn marker(&self) -> &str {
        &self.marker
    }

    /// What the server writes down.
    pub fn journal(&self) -> &JournalReader {
        &self.journal
    }

    /// Starts a server of one of the HTTP modes and waits until it listens.
    pub fn start(self) -> io::Result<RunningServer> {
        let child = Command::new(&self.program)
            .args(self.arguments())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut server = RunningServer {
            stdin: None,
            child,
            origin: String::new(),
            server: self,
        };
        server.stdin = server.child.stdin.take();
        let stdout = server.child.stdout.take();
        let stdout = stdout.ok_or_else(|| io::Error::other("the server has no output"))?;
        let (sender, receiver) = mpsc::channel();
        // It ends with the server, which is killed if nothing comes.
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(stdout).read_line(&mut line);
            // Nobody may be waiting any more.
            let _ = sender.send(read.map(|_| line));
        });
        let line = receiver.recv_timeout(PATIENCE).map_err(|_| {
            let message = "the server does not listen: is it in one of the HTTP modes?";
            io::Error::new(io::ErrorKind::TimedOut, message)
        })??;
        let origin = line.trim().strip_prefix("listening on ");
        let complaint = || io::Error::other(format!("the server does not listen but says: {line}"));
        origin.ok_or_else(complaint)?.clone_into(&mut server.origin);
        Ok(server)
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        // What is left of it is in the directory for temporary files.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// A fake server that listens. It ends when this is dropped, or when the test is killed.
#[derive(Debug)]
pub struct RunningServer {
    /// Its end tells the server to go, even if this process is killed.
    stdin: Option<ChildStdin>,
    child: Child,
    origin: String,
    server: FakeServer,
}

impl RunningServer {
    /// Scheme, host and port.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        let port = self.origin.rsplit(':').next();
        port.and_then(|port| port.parse().ok()).unwrap_or_default()
    }

    /// The address of Streamable HTTP, or of HTTP+SSE if it serves that alone.
    pub fn url(&self) -> String {
        if self.server.flags.iter().any(|flag| flag == "sse") {
            self.sse_url()
        } else {
            format!("{}/mcp", self.origin)
        }
    }

    /// The address of HTTP+SSE.
    pub fn sse_url(&self) -> String {
        format!("{}/sse", self.origin)
    }

    /// What it writes down.
    pub fn journal(&self) -> &JournalReader {
        self.server.journal()
    }

    /// What is found in the command lines of the server and of what it starts.
    pub fn marker(&self) -> &str {
        self.server.marker()
    }

    /// The number of its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Ends it at once, as a crash would; its journal can still be read.
    pub fn kill(&mut self) {
        drop(self.stdin.take());
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.kill();
    }
}
