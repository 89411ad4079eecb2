//! Points in time that can always be reached.

use std::time::Duration;

use tokio::time::Instant;

/// As far as anybody looks ahead; sums with it stay in range.
pub(crate) const FOR_EVER: Duration = Duration::from_hours(10 * 365 * 24);

/// The moment so far from now, whatever somebody configured.
pub(crate) fn deadline(after: Duration) -> Instant {
    later(Instant::now(), after)
}

/// The moment so far from another one, whatever somebody configured.
pub(crate) fn later(moment: Instant, after: Duration) -> Instant {
    moment + after.min(FOR_EVER)
}

/// How long it is until then.
pub(crate) fn until(moment: Instant) -> Duration {
    moment.saturating_duration_since(Instant::now())
}
