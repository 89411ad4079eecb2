//! How a server is looked after that several names have.

use std::time::Duration;

use openclaw_config::{Restart, Server};

/// What is not part of a launch, and so may differ between the names of one server. None of them may
/// cost another one anything: what is most generous holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SharedSettings {
    /// Whether it starts only when it is used.
    pub(super) is_lazy: bool,
    /// After how long without use it is stopped, if at all.
    pub(super) idle_timeout: Option<Duration>,
    /// How often what it offers is listed again, if at all.
    pub(super) discovery_interval: Option<Duration>,
    /// Whether it is started again, and how often.
    pub(super) restart: Restart,
    /// How long its calls have to end when it is no longer wanted.
    pub(super) drain: Duration,
}

impl SharedSettings {
    /// Those of one definition.
    pub(super) fn of(server: &Server) -> Self {
        Self {
            is_lazy: server.lazy,
            idle_timeout: server.idle_timeout,
            discovery_interval: server.discovery_interval,
            restart: server.restart,
            drain: server.timeouts.total,
        }
    }

    /// Those of two names together.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            is_lazy: self.is_lazy && other.is_lazy,
            idle_timeout: self
                .idle_timeout
                .zip(other.idle_timeout)
                .map(|(one, two)| one.max(two)),
            discovery_interval: match (self.discovery_interval, other.discovery_interval) {
                (Some(one), Some(two)) => Some(one.min(two)),
                (one, two) => one.or(two),
            },
            restart: match (self.restart, other.restart) {
                (Restart::AtMost(one), Restart::AtMost(two)) => Restart::AtMost(one.max(two)),
                (Restart::Never, restart) | (restart, Restart::Never) => restart,
            },
            drain: self.drain.max(other.drain),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_secs(1);
    const LONG: Duration = Duration::from_secs(9);

    const STRICT: SharedSettings = SharedSettings {
        is_lazy: true,
        idle_timeout: Some(SHORT),
        discovery_interval: None,
        restart: Restart::Never,
        drain: SHORT,
    };

    /// Both orders give the same.
    fn together(one: SharedSettings, two: SharedSettings) -> SharedSettings {
        let both = one.with(two);
        assert_eq!(both, two.with(one));
        both
    }

    #[test]
    fn what_is_most_generous_holds() {
        let generous = SharedSettings {
            is_lazy: false,
            idle_timeout: None,
            discovery_interval: Some(LONG),
            restart: Restart::AtMost(3),
            drain: LONG,
        };
        assert_eq!(together(STRICT, generous), generous);
        assert_eq!(together(STRICT, STRICT), STRICT);
    }

    #[test]
    fn of_two_numbers_the_one_that_helps_more_holds() {
        let one = SharedSettings {
            idle_timeout: Some(LONG),
            discovery_interval: Some(SHORT),
            restart: Restart::AtMost(7),
            ..STRICT
        };
        let two = SharedSettings {
            discovery_interval: Some(LONG),
            restart: Restart::AtMost(2),
            ..STRICT
        };
        assert_eq!(together(one, two), one);
    }
}
