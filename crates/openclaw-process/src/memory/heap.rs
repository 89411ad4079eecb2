//! What the allocator keeps of memory that nobody holds any longer.
//!
//! The GNU C library has a heap for each of several threads. Left alone, it learns from large blocks that were freed
//! to take the next ones from those heaps, and leaves the end of each as it is until twice the largest is free there:
//! up to 64 MiB a heap, which nothing gives back.

/// What is at least as large is a mapping of its own, which ends when it is freed.
#[cfg(target_env = "gnu")]
const LARGE: libc::c_int = 1024 * 1024;
/// How much stays at the end of a heap.
#[cfg(target_env = "gnu")]
const SPARE: libc::c_int = 1024 * 1024;

/// Has large blocks given back when they are freed, and little kept at the end of a heap. To be called while this
/// process has one thread.
pub(super) fn keep_little() {
    #[cfg(target_env = "gnu")]
    fix_thresholds();
}

#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "only the allocator knows what it keeps")]
fn fix_thresholds() {
    for (what, bytes) in [
        (libc::M_MMAP_THRESHOLD, LARGE),
        (libc::M_TRIM_THRESHOLD, SPARE),
    ] {
        // SAFETY: it takes no address, and what it changes is looked at when memory is allocated or freed next,
        // which the allocator can do with any value of these.
        let is_set = unsafe { libc::mallopt(what, bytes) };
        if is_set == 0 {
            tracing::debug!("the allocator keeps as much as it likes");
        }
    }
}

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
    fn large_blocks_and_the_ends_of_heaps_of_any_thread_are_not_kept() {
        const SIZE: usize = 4 << 20;
        const PIECE: usize = 256 << 10;
        keep_little();
        let (say, said) = std::sync::mpsc::channel();
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let before = held_by_process();
        let working = std::thread::spawn(move || {
            // What one block teaches counts for the next ones.
            for _ in 0..3 {
                let blocks = [SIZE, SIZE / 2].map(|size| vec![1_u8; size]);
                let pieces: Vec<_> = (0..40).map(|_| vec![2_u8; PIECE]).collect();
                drop(std::hint::black_box((blocks, pieces)));
            }
            say.send(held_by_process()).unwrap();
            // Its heap is there for as long as it is.
            wait.recv().unwrap();
        });
        let left = said.recv().unwrap();
        assert!(left < before + SIZE / 2, "{left} after {before}");
        go.send(()).unwrap();
        working.join().unwrap();
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
