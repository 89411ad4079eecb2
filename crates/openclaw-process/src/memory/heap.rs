//! What the allocator keeps of memory that nobody holds any longer.

/// Gives it back to the system. The GNU C library keeps what lies between things that are still held, however
/// much that is; others are left to do as they do.
pub(super) fn give_back() {
    #[cfg(target_env = "gnu")]
    trim();
}

#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "only the allocator knows what it keeps")]
fn trim() {
    // SAFETY: it takes no address, gives back only what was freed, and may be called on any thread at any time.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(test)]
#[cfg(target_env = "gnu")]
mod tests {
    use super::*;

    fn held_by_process() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|it| it.strip_prefix("RssAnon:"));
        let number = line.unwrap().trim().strip_suffix(" kB").unwrap();
        number.parse::<usize>().unwrap() * 1024
    }

    #[test]
    fn what_lies_between_things_that_are_held_is_given_back_and_they_stay() {
        const SIZE: usize = 1_000;
        const COUNT: usize = 100_000;
        let before = held_by_process();
        let mut all: Vec<Option<Vec<u8>>> = (0..COUNT)
            .map(|number| Some(vec![number.to_le_bytes()[0]; SIZE]))
            .collect();
        let most = held_by_process();
        assert!(most - before > SIZE * COUNT);
        for (number, one) in all.iter_mut().enumerate() {
            if number % 100 > 0 {
                *one = None;
            }
        }
        give_back();
        let left = held_by_process();
        assert!(left < before + SIZE * COUNT / 4, "{left} of {most}");
        for (number, one) in all.iter().enumerate().step_by(100) {
            let one = one.as_ref().unwrap();
            assert!(one.iter().all(|byte| *byte == number.to_le_bytes()[0]));
        }
    }
}
