//! Programs that run for a while, and what `/proc` says about them.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::time::Duration;

use openclaw_testkit::leaks::{descendants, wait_until};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// How long a program may take to end.
const ENDING: Duration = Duration::from_secs(8);
/// Clock ticks in a second, as Linux counts them in `/proc` on every machine.
const TICKS: u32 = 100;

/// A program in a process group of its own, ended when this is dropped with all that is in the group.
pub(crate) struct Running {
    child: Child,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let child = command.process_group(0).spawn().expect("a program starts");
        Self { child }
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let below: Vec<_> = descendants(self.pid())
            .into_iter()
            .filter_map(|pid| Some((pid, started(pid)?)))
            .collect();
        let pid = Pid::from_child(&self.child);
        let _ = kill_process(pid, Signal::TERM);
        let is_over = |child: &mut Child| child.try_wait().ok().flatten().is_some();
        if !wait_until(ENDING, || is_over(&mut self.child)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        let _ = kill_process_group(pid, Signal::KILL);
        // What it left behind must not disturb what is measured next. A number that was given to
        // another process meanwhile has another time with it.
        for (left, since) in below {
            let number = i32::try_from(left).ok().and_then(Pid::from_raw);
            if let Some(number) = number.filter(|_| started(left) == Some(since)) {
                let _ = kill_process(number, Signal::KILL);
            }
        }
    }
}

/// What `/proc` says about a process behind its name, which may hold anything.
fn fields(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(ToOwned::to_owned).collect())
}

/// When a process started, in ticks since the machine did.
fn started(pid: u32) -> Option<String> {
    fields(pid)?.get(19).cloned()
}

/// The memory that a process has on its own (`RssAnon`), in bytes.
pub(crate) fn anonymous(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a status");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.expect("a figure") * 1024
}

/// The time that a process has spent on a core so far.
pub(crate) fn spent(pid: u32) -> Duration {
    let fields = fields(pid).expect("a process");
    let ticks = |at: usize| fields[at].parse::<u32>().expect("a count");
    Duration::from_secs(1) * (ticks(11) + ticks(12)) / TICKS
}

/// The child of a process that has this name.
pub(crate) fn child_named(parent: u32, name: &str) -> Option<u32> {
    let is_it = |pid: &u32| {
        fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == name)
    };
    descendants(parent).into_iter().find(is_it)
}
