//! Memory that this process holds for what it did once.
//!
//! Beginning reads pages of the program's own file that are hardly read again: configuration, TLS, the
//! first words with each server. They are counted as ours until we say that we don't need them. They stay
//! in the memory of the system, and reading one again costs a microsecond, unless the system had better use
//! for it meanwhile.
//!
//! What was allocated for work and freed since is kept by the allocator for the next work, which may need much
//! less.

mod heap;
mod pages;

use std::time::Duration;

/// How often it is looked whether this process has work.
const LOOK: Duration = Duration::from_secs(1);
/// How long a process works meanwhile that has nothing to do but to look after what it has.
const LITTLE: Duration = Duration::from_millis(5);

/// Has little kept of memory that is freed. For processes that live long, before they have a second thread.
pub fn keep_little_memory() {
    heap::keep_little();
}

/// Gives memory back whenever this process has nothing to do after it had; never returns. For processes
/// that live long.
pub async fn give_back_when_quiet() {
    let mut watch = Watch::new(pages::spent());
    loop {
        tokio::time::sleep(LOOK).await;
        if watch.is_over(pages::spent()) {
            heap::give_back();
            pages::give_back();
            // That was no work.
            watch = Watch::after(pages::spent());
        }
    }
}

/// Whether work is over, by how long this process has worked so far.
struct Watch {
    spent: Duration,
    has_worked: bool,
}

impl Watch {
    /// From the beginning, which is work.
    fn new(spent: Duration) -> Self {
        Self {
            spent,
            has_worked: true,
        }
    }

    /// From a moment at which all that was done is dealt with.
    fn after(spent: Duration) -> Self {
        Self {
            spent,
            has_worked: false,
        }
    }

    fn is_over(&mut self, spent: Duration) -> bool {
        let is_quiet = spent.saturating_sub(self.spent) < LITTLE;
        self.spent = spent;
        self.has_worked |= !is_quiet;
        is_quiet && self.has_worked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_over_once_a_second_passes_without_it() {
        let at = Duration::from_millis;
        let mut watch = Watch::new(at(10));
        assert!(!watch.is_over(at(30)), "it still begins");
        assert!(watch.is_over(at(32)), "it has begun");
        let mut watch = Watch::after(at(40));
        for moment in 1..100 {
            assert!(!watch.is_over(at(40 + 4 * moment)), "looking after things");
        }
        assert!(!watch.is_over(at(700)), "it works");
        assert!(watch.is_over(at(701)));
    }
}
