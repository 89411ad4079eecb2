//! A program that takes its time, and what it has said so far.

use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use openclaw_testkit::leaks::wait_until;
use rustix::process::{Pid, Signal, kill_process};

use crate::lab::Lab;
use crate::program::Run;

/// How long it may take to say or do what it is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// A program that takes its time. It is killed if this is dropped before it has ended.
pub(crate) struct Running<'lab> {
    lab: &'lab Lab,
    child: Child,
    stdout: Listener,
    stderr: Listener,
}

pub(super) struct Listener {
    heard: Arc<Mutex<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    pub(super) fn to(mut stream: impl Read + Send + 'static) -> Self {
        let heard: Arc<Mutex<Vec<u8>>> = Arc::default();
        let kept = Arc::clone(&heard);
        let thread = std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = stream.read(&mut piece) {
                kept.lock().unwrap().extend_from_slice(&piece[..length]);
            }
        });
        Self {
            heard,
            thread: Some(thread),
        }
    }

    pub(super) fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.heard.lock().unwrap()).into_owned()
    }

    pub(super) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn all(&mut self) -> Vec<u8> {
        self.thread.take().unwrap().join().unwrap();
        self.heard.lock().unwrap().clone()
    }
}

impl<'lab> Running<'lab> {
    pub(crate) fn of(lab: &'lab Lab, mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            lab,
            stdout: Listener::to(child.stdout.take().unwrap()),
            stderr: Listener::to(child.stderr.take().unwrap()),
            child,
        }
    }

    /// Waits until it has said something, and gives all that it has said.
    #[track_caller]
    pub(crate) fn says(&self, words: &str) -> String {
        let has_said = || self.stderr.so_far().contains(words);
        // Who has ended says no more.
        wait_until(PATIENCE, || has_said() || self.stderr.is_over());
        let said = self.stderr.so_far();
        assert!(
            said.contains(words),
            "it does not say {words:?} but: {said}"
        );
        said
    }

    /// The address that a person has to open.
    #[track_caller]
    pub(crate) fn address(&self) -> String {
        let said = self.says("Waiting for ");
        let mut lines = said.lines().map(str::trim);
        let address = lines.find(|line| line.starts_with("http"));
        address.unwrap_or_else(|| panic!("{said}")).to_owned()
    }

    pub(crate) fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn ended(mut self) -> Run {
        assert!(
            wait_until(PATIENCE, || self.has_ended()),
            "it does not end: {}",
            self.stderr.so_far()
        );
        let output = Output {
            status: self.child.wait().unwrap(),
            stdout: self.stdout.all(),
            stderr: self.stderr.all(),
        };
        self.lab.home.finish(output)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
