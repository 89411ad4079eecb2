//! How fast a server is started again.

use std::time::Duration;

use openclaw_config::Restart;

/// How long things take when a server does not do well.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The wait before the first new start; each further one is twice as long.
    pub first: Duration,
    /// The longest wait.
    pub longest: Duration,
    /// After how long of health earlier failures are forgotten.
    pub healthy: Duration,
    /// How often an idle connection is asked whether it is alive.
    pub heartbeat: Duration,
    /// How long the answer may take.
    pub heartbeat_patience: Duration,
    /// How often new starts may fail in a row, if there is an end to it.
    pub restarts: Option<u32>,
}

/// How many heartbeats may be missed.
pub(crate) const MISSES: u32 = 2;

impl Pace {
    /// For programs, as they are configured.
    pub fn program(restart: Restart) -> Self {
        Self {
            longest: Duration::from_secs(30),
            restarts: Some(match restart {
                Restart::Never => 0,
                Restart::AtMost(count) => count,
            }),
            ..Self::address()
        }
    }

    /// For servers at an address, which may come back at any time.
    pub fn address() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_mins(1),
            healthy: Duration::from_mins(1),
            heartbeat: Duration::from_secs(30),
            heartbeat_patience: Duration::from_secs(10),
            restarts: None,
        }
    }

    /// Whether there is any new start.
    pub(crate) fn tries_again(&self) -> bool {
        self.restarts != Some(0)
    }

    /// The wait before a new start, after so many failures in a row; none if there is none.
    pub(crate) fn wait(&self, failures: u32) -> Option<Duration> {
        if self.restarts.is_some_and(|most| failures > most) {
            return None;
        }
        Some(self.pause(failures))
    }

    /// The wait after so many failures in a row.
    pub(crate) fn pause(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        self.first.saturating_mul(1 << doublings).min(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(pace: Pace, count: u32) -> Vec<Option<u64>> {
        let wait = |failures| pace.wait(failures).map(|wait| wait.as_secs());
        (1..=count).map(wait).collect()
    }

    #[test]
    fn an_idle_connection_is_asked_twice_a_minute_and_may_miss_one() {
        for pace in [Pace::program(Restart::AtMost(5)), Pace::address()] {
            assert_eq!(pace.heartbeat, Duration::from_secs(30));
            assert!(pace.heartbeat_patience < pace.heartbeat);
        }
        assert_eq!(MISSES, 2);
    }

    #[test]
    fn programs_are_given_up_on_and_addresses_are_not() {
        let program = waits(Pace::program(Restart::AtMost(7)), 8);
        let expected = [1, 2, 4, 8, 16, 30, 30].map(Some);
        assert_eq!(program[..7], expected);
        assert_eq!(program[7], None);
        assert_eq!(waits(Pace::program(Restart::Never), 1), [None]);
        assert_eq!(waits(Pace::program(Restart::AtMost(0)), 1), [None]);
        let address = waits(Pace::address(), 100);
        assert_eq!(address[..8], [1, 2, 4, 8, 16, 32, 60, 60].map(Some));
        assert_eq!(address[99], Some(60));
    }
}
