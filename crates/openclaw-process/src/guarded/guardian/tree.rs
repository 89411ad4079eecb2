//! Which processes descend from which, and signals that reach them and nobody else.

use std::collections::HashMap;
use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The processes of the machine at one moment, by their parents.
pub(crate) struct Tree {
    children: HashMap<i32, Vec<i32>>,
}

impl Tree {
    /// Looks at all processes.
    pub(crate) fn now() -> Self {
        let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        for pid in entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
            if let Some(parent) = parent_of(pid) {
                children.entry(parent).or_default().push(pid);
            }
        }
        Self { children }
    }

    /// The direct children of a process.
    pub(crate) fn children(&self, pid: i32) -> &[i32] {
        self.children.get(&pid).map_or(&[], Vec::as_slice)
    }

    /// All processes below a process, parents before their children.
    pub(crate) fn descendants(&self, pid: i32) -> Vec<i32> {
        let mut found = self.children(pid).to_vec();
        let mut next = 0;
        while let Some(&pid) = found.get(next) {
            found.extend_from_slice(self.children(pid));
            next += 1;
        }
        found
    }
}

/// Signals a process, if it still descends from `ancestor`.
///
/// A number can be given to another process at any moment. The descriptor is opened first, and
/// only then is it looked whether the process is still one of ours: from then on the descriptor
/// can't come to mean another one.
pub(crate) fn signal_descendant(pid: i32, ancestor: i32, signal: Signal) {
    let Some(process) = Pid::from_raw(pid) else {
        return;
    };
    if let Ok(descriptor) = pidfd_open(process, PidfdFlags::empty())
        && descends_from(pid, ancestor)
    {
        // It may have ended meanwhile, which is what was wanted.
        let _ = pidfd_send_signal(&descriptor, signal);
    }
}

fn descends_from(pid: i32, ancestor: i32) -> bool {
    let mut current = pid;
    // A chain of parents is never as long as this.
    for _ in 0..10_000 {
        match parent_of(current) {
            Some(parent) if parent == ancestor => return true,
            Some(parent) if parent > 1 => current = parent,
            Some(_) | None => return false,
        }
    }
    false
}

/// The parent of a process, from the fourth field of its `stat`.
fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name in parentheses, which may hold any bytes: parentheses, blanks,
    // and no valid text.
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = str::from_utf8(&stat[name_end + 1..]).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_below_its_parent() {
        let us = i32::try_from(std::process::id()).unwrap();
        let parent = parent_of(us).unwrap();
        assert!(Tree::now().children(parent).contains(&us));
        assert!(Tree::now().descendants(parent).contains(&us));
        assert!(descends_from(us, parent));
        assert!(!descends_from(parent, us));
    }
}
