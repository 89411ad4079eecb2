//! Looks for what this process has left in its own memory, and how much there was of it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;

/// How much is looked at in one go.
const WINDOW: usize = 64 * 1024;

/// The longest run of a byte in memory that this process can write to: heap, stacks, and what it has
/// given back to its allocator.
///
/// A run, so that looking for it needs no copy of it that would be found.
pub fn longest_run(byte: u8) -> io::Result<usize> {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let memory = File::open("/proc/self/mem")?;
    let mut window = vec![0; WINDOW];
    let mut longest = 0;
    for line in maps.lines() {
        let Some((start, end)) = writable(line) else {
            continue;
        };
        let (mut at, mut run) = (start, 0);
        while at < end {
            let most = usize::try_from(end - at).unwrap_or(WINDOW).min(WINDOW);
            // What went away since, or can't be read, holds nothing.
            let Ok(length @ 1..) = memory.read_at(&mut window[..most], at) else {
                break;
            };
            for seen in &window[..length] {
                run = if *seen == byte { run + 1 } else { 0 };
                longest = longest.max(run);
            }
            at += length as u64;
        }
    }
    // The next look should not find what this one saw, and nobody else looks here.
    window.fill(0);
    std::hint::black_box(&window);
    Ok(longest)
}

/// The most memory that this process has had so far, in bytes.
pub fn peak() -> io::Result<u64> {
    peak_of(std::process::id())
}

/// The most memory that a process has had so far, in bytes.
pub fn peak_of(pid: u32) -> io::Result<u64> {
    figure(pid, "VmHWM:")
}

/// The memory that a process has now, in bytes.
pub fn resident(pid: u32) -> io::Result<u64> {
    figure(pid, "VmRSS:")
}

fn figure(pid: u32, name: &str) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse().ok());
    let kilobytes: u64 = kilobytes.ok_or_else(|| io::Error::other("there is no such figure"))?;
    Ok(kilobytes * 1024)
}

/// The bounds of a mapping, if it can be read and written.
fn writable(line: &str) -> Option<(u64, u64)> {
    let mut words = line.split(' ');
    let (start, end) = words.next()?.split_once('-')?;
    let bound = |text| u64::from_str_radix(text, 16).ok();
    let is_ours = words.next()?.starts_with("rw");
    is_ours.then_some((bound(start)?, bound(end)?))
}
