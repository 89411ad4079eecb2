//! Patience with peers that are slow: they may take their time, and not for ever.

use std::time::Duration;

use tokio::time::Instant;

/// How many bytes a peer moves in a second at least, while it is waited for. What is held for one that moves fewer is
/// held for others as well.
const RATE: u64 = 32 * 1024;

/// How many things may be expected to move as fast over a connection as one that has it to itself; more than that share
/// it.
pub(crate) const FEW: usize = 8;

/// For how long a peer has been waited for, beyond what it needs for what it moved.
#[derive(Debug, Default)]
pub(crate) struct Slowness {
    behind: Duration,
    /// Since when it is waited for, if it is.
    since: Option<Instant>,
    /// Since when it is not.
    free: Option<Instant>,
}

impl Slowness {
    /// Waits for the peer; until when, where so much patience there is with it.
    pub(crate) fn waits(&mut self, patience: Duration) -> Instant {
        let since = self.since.unwrap_or_else(|| {
            let now = Instant::now();
            if let Some(free) = self.free.take() {
                self.behind = self.behind.saturating_sub(now - free);
            }
            now
        });
        self.since = Some(since);
        since + patience.saturating_sub(self.behind)
    }

    /// The peer has moved so many bytes.
    pub(crate) fn moved(&mut self, bytes: usize) {
        if let Some(since) = self.since.take() {
            let now = Instant::now();
            self.behind += now - since;
            self.free = Some(now);
        }
        if !self.behind.is_zero() {
            let micros = (bytes as u64).saturating_mul(1_000_000) / RATE;
            self.behind = self.behind.saturating_sub(Duration::from_micros(micros));
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);
    const SECOND: Duration = Duration::from_secs(1);

    /// How long a peer is waited for that moves so many bytes each time after a wait, and is waited for again after
    /// a pause; at most an hour.
    async fn waited(bytes: usize, wait: Duration, pause: Duration) -> Duration {
        let (mut slowness, began) = (Slowness::default(), Instant::now());
        while began.elapsed() < Duration::from_hours(1) {
            let until = slowness.waits(PATIENCE);
            if until < Instant::now() + wait {
                return until - began;
            }
            advance(wait).await;
            assert_eq!(slowness.waits(PATIENCE), until, "it is still the same wait");
            slowness.moved(bytes);
            advance(pause).await;
        }
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_is_waited_for_as_long_as_it_keeps_up() {
        let (rate, none) = (usize::try_from(RATE).unwrap(), Duration::ZERO);
        assert!(waited(rate, SECOND, none).await >= Duration::from_hours(1));
        assert!(waited(rate * 29, SECOND * 29, none).await >= Duration::from_hours(1));
        // At half of that, each second it is half a second behind.
        let half = waited(rate / 2, SECOND, none).await;
        assert!((SECOND * 58..=SECOND * 60).contains(&half), "{half:?}");
        // However it is spread.
        assert_eq!(waited(1, SECOND * 29, none).await.as_secs(), 30);
        assert_eq!(waited(0, SECOND * 31, none).await, PATIENCE);
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_it_is_not_waited_for_is_time_to_catch_up() {
        let hour = Duration::from_hours(1);
        assert!(waited(1, SECOND * 29, SECOND * 29).await >= hour);
        assert!(waited(1, SECOND * 29, SECOND).await < SECOND * 62);
    }
}
