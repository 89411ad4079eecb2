//! Memory that this process holds for what it did once.
//!
//! Beginning reads pages of the program's own file that are hardly read again: configuration, TLS, the
//! first words with each server. They are counted as ours until we say that we don't need them. They stay
//! in the memory of the system, and reading one again costs a microsecond, unless the system had better use
//! for it meanwhile.

mod pages;

use std::time::Duration;

/// How often it is looked whether this process has work.
const LOOK: Duration = Duration::from_secs(1);
/// How much of that a process without work spends.
const QUIET: Duration = Duration::from_millis(10);
/// How much work reads enough of the program that giving it back is worth it.
const WORK: Duration = Duration::from_millis(10);

/// Gives memory back whenever this process has nothing to do after it had; never returns. For processes
/// that live long.
pub async fn give_back_when_quiet() {
    let (mut last, mut given_back) = (pages::spent(), Duration::ZERO);
    loop {
        tokio::time::sleep(LOOK).await;
        let spent = pages::spent();
        let is_quiet = spent.saturating_sub(last) < QUIET;
        last = spent;
        if is_quiet && spent.saturating_sub(given_back) >= WORK {
            pages::give_back();
            given_back = spent;
        }
    }
}
