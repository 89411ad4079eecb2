//! How much a server may have logged.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How many lines may come at once.
const BURST: u32 = 100;
/// How long it takes until one more may.
const REFILL: Duration = Duration::from_millis(50);

/// Lets through as many lines as a log can bear.
#[derive(Debug)]
pub(crate) struct LogAllowance {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    left: u32,
    refilled: Instant,
    suppressed: u64,
}

impl Default for LogAllowance {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                left: BURST,
                refilled: Instant::now(),
                suppressed: 0,
            }),
        }
    }
}

impl LogAllowance {
    /// Whether one more line may be logged, after word of those that were not.
    pub(crate) fn take(&self, server: &str) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = state.refilled.elapsed().as_millis() / REFILL.as_millis();
        if passed > 0 {
            let gained = u32::try_from(passed).unwrap_or(u32::MAX);
            state.left = state.left.saturating_add(gained).min(BURST);
            state.refilled = Instant::now();
        }
        if state.left == 0 {
            state.suppressed += 1;
            return false;
        }
        state.left -= 1;
        let suppressed = std::mem::take(&mut state.suppressed);
        drop(state);
        if suppressed > 0 {
            tracing::warn!(server, suppressed, "lines of the server were not logged");
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_thinned_and_forgotten() {
        let allowance = LogAllowance::default();
        let burst = (0..10_000).filter(|_| allowance.take("x")).count();
        assert_eq!(burst, 100);
        tokio::time::advance(Duration::from_secs(1)).await;
        let later = (0..10_000).filter(|_| allowance.take("x")).count();
        assert_eq!(later, 20);
        tokio::time::advance(Duration::from_hours(24)).await;
        assert!(allowance.take("x"));
    }
}
