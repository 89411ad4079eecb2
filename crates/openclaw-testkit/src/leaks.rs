//! Looks for what a test must not leave behind: processes and descriptors.
//!
//! All of it reads `/proc`; on systems without it nothing is found.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long is waited between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// The processes that this process started, and those that they started; zombies are left out.
pub fn descendants(pid: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = running()
        .into_iter()
        .filter_map(|process| Some((process, parent_of(process)?)))
        .collect();
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        let children = parents.iter().filter(|(_, of)| *of == parent);
        found.extend(children.map(|(process, _)| *process));
        next += 1;
    }
    found.remove(0);
    found.sort_unstable();
    found
}

/// The processes that have this argument, or one that contains it; zombies are left out, and so
/// is this process.
pub fn processes_with_argument(marker: &str) -> Vec<u32> {
    let has_marker = |pid: &u32| {
        fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
            line.split(|byte| *byte == 0)
                .any(|argument| String::from_utf8_lossy(argument).contains(marker))
        })
    };
    let mut found = running();
    found.retain(|pid| *pid != std::process::id() && has_marker(pid));
    found
}

/// The open descriptors of this process, with what they lead to.
pub fn open_descriptors() -> Vec<(u32, PathBuf)> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else {
        return Vec::new();
    };
    // The descriptor that reads the directory leads to nothing once the loop is over.
    let numbers: Vec<u32> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    let mut found: Vec<(u32, PathBuf)> = numbers
        .into_iter()
        .filter_map(|number| {
            let target = fs::read_link(format!("/proc/self/fd/{number}")).ok()?;
            Some((number, target))
        })
        .collect();
    found.sort_unstable();
    found
}

/// Waits, blocking the thread, until the condition holds; false if it does not in time.
pub fn wait_until(patience: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + patience;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Waits, letting other tasks run, until the condition holds; false if it does not in time.
pub async fn eventually(patience: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + patience;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// All processes that are no zombies.
fn running() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let mut found: Vec<u32> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| status_of(*pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X')))
        .collect();
    found.sort_unstable();
    found
}

fn parent_of(pid: u32) -> Option<u32> {
    status_of(pid).map(|(_, parent)| parent)
}

/// The state of a process and the number of its parent.
fn status_of(pid: u32) -> Option<(char, u32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses and may contain anything, parentheses included.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.next()?.parse().ok()?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_found_while_it_runs_and_not_as_a_zombie() {
        let marker = format!("leaks-test-{}", std::process::id());
        let mut child = std::process::Command::new("sh")
            .args(["-c", "read line", &marker])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let found = || processes_with_argument(&marker);
        assert!(wait_until(Duration::from_secs(5), || found() == [child.id()]));
        assert!(descendants(std::process::id()).contains(&child.id()));
        drop(child.stdin.take());
        assert!(wait_until(Duration::from_secs(5), || found().is_empty()));
        assert!(!descendants(std::process::id()).contains(&child.id()));
        child.wait().unwrap();
    }

    #[test]
    fn an_open_file_is_found_with_its_path() {
        let file = fs::File::open("/proc/self/status").unwrap();
        let open = || {
            open_descriptors()
                .iter()
                .any(|(_, target)| target.ends_with("status"))
        };
        assert!(open());
        drop(file);
        assert!(!open());
    }
}
