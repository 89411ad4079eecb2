//! What this process takes of the machine, where the system says so.

/// What this process takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Process {
    /// How much memory it has, in bytes.
    pub(super) resident: Option<u64>,
    /// How many descriptors it has open.
    pub(super) descriptors: Option<u64>,
}

/// Looks; on systems without `/proc` there is nothing to be seen.
pub(super) fn look() -> Process {
    let status = std::fs::read_to_string("/proc/self/status").ok();
    let resident = status.as_deref().and_then(resident);
    let descriptors = std::fs::read_dir("/proc/self/fd").ok();
    Process {
        resident,
        // Looking takes one itself.
        descriptors: descriptors.map(|entries| (entries.count() as u64).saturating_sub(1)),
    }
}

fn resident(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_is_read_from_what_the_kernel_writes() {
        assert_eq!(
            resident("Name:\tx\nVmRSS:\t    1234 kB\n"),
            Some(1234 * 1024)
        );
        assert_eq!(resident("Name:\tx\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_memory_and_descriptors() {
        let process = look();
        assert!(process.resident.unwrap() > 100_000);
        assert!(process.descriptors.unwrap() >= 3);
    }
}
