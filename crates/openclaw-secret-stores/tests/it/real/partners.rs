//! Finding programs that others wrote, starting them, and ending them.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use openclaw_testkit::partners;

/// Their Python.
pub(super) fn python() -> Command {
    let partners = partners().join("python");
    let mut command = Command::new(if cfg!(windows) {
        partners.join("Scripts/python.exe")
    } else {
        partners.join("bin/python")
    });
    // Nothing of the machine counts, and it has no credentials of its own.
    command.env_clear().env("AWS_EC2_METADATA_DISABLED", "true");
    command
}

/// A script beside this file.
pub(super) fn script(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/real");
    here.join(name)
}

/// A server that runs until this is dropped.
pub(super) struct Server {
    child: Child,
    reader: Option<JoinHandle<()>>,
    pub(super) origin: String,
}

impl Server {
    /// Starts a script that says on the first line of its output where it listens.
    pub(super) fn start(name: &str) -> Self {
        let mut child = python()
            .arg(script(name))
            // It ends with its input, should nobody be left to kill it.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let origin = lines.next();
        // Whatever else it says must not fill the pipe.
        let reader = std::thread::spawn(move || lines.for_each(drop));
        let server = Self {
            child,
            reader: Some(reader),
            origin: origin.and_then(Result::ok).unwrap_or_default(),
        };
        assert!(server.origin.starts_with("http://127.0.0.1:"), "{name}");
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}
