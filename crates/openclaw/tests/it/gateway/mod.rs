//! The gateway, as a program of its own.

#[cfg(target_os = "linux")]
mod clock;
#[cfg(target_os = "linux")]
mod commands;
#[cfg(target_os = "linux")]
mod disk;
#[cfg(target_os = "linux")]
mod ends;
#[cfg(target_os = "linux")]
mod http;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod others;
#[cfg(target_os = "linux")]
mod ports;
#[cfg(target_os = "linux")]
mod reloads;
#[cfg(target_os = "linux")]
mod traces;

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use openclaw_testkit::leaks::wait_until;

use crate::program::Home;

/// How long stopping may take.
pub(crate) const STOPPING: Duration = Duration::from_secs(6);

/// A gateway that runs, and is stopped when this is dropped.
pub(crate) struct Gateway {
    child: Child,
    /// Where it listens for HTTP.
    pub(crate) address: String,
}

impl Gateway {
    /// Starts a gateway for a home directory, and waits until it is ready.
    pub(crate) fn start(home: &Home, options: &[&str]) -> Self {
        Self::try_start(home, options).expect("the gateway is ready")
    }

    /// The same; none if its configuration can't be used.
    pub(crate) fn try_start(home: &Home, options: &[&str]) -> Option<Self> {
        let arguments = [&["gateway", "run", "--port", "0"], options].concat();
        Self::try_of(home.plain_command(&arguments))
    }

    /// Starts what a command says, and waits until it is ready.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(command: Command) -> Self {
        Self::try_of(command).expect("the gateway is ready")
    }

    fn try_of(mut command: Command) -> Option<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let ready = line.strip_prefix("gateway ready at ");
        let Some((address, _)) = ready.and_then(|rest| rest.split_once(' ')) else {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            // Nothing else keeps it from starting.
            assert_eq!(output.status.code(), Some(2), "{said}");
            return None;
        };
        Some(Self {
            address: address.to_owned(),
            child,
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits until it has ended, and says with which code and what it wrote.
    pub(crate) fn ended(&mut self) -> (Option<i32>, String) {
        let mut code = None;
        let has_ended = wait_until(STOPPING + Duration::from_secs(2), || {
            code = self.child.try_wait().unwrap();
            code.is_some()
        });
        assert!(has_ended, "the gateway does not stop");
        let mut said = String::new();
        let stderr = self.child.stderr.take().unwrap();
        BufReader::new(stderr).read_to_string(&mut said).unwrap();
        (code.and_then(|status| status.code()), said)
    }

    /// Ends it without asking.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        if self.child.try_wait().ok().flatten().is_some() {
            return;
        }
        #[cfg(unix)]
        self.signal(rustix::process::Signal::TERM);
        let has_ended = wait_until(STOPPING, || self.child.try_wait().ok().flatten().is_some());
        if !has_ended {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        assert!(
            has_ended || std::thread::panicking(),
            "the gateway does not stop within {STOPPING:?}"
        );
    }
}
