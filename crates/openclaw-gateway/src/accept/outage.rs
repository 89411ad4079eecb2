//! Times in which nobody can be taken up, told once each.

use std::io;
use std::time::{Duration, Instant};

/// How long all must go well until it counts as over. A single descriptor that comes free is taken at
/// once, and the next call fails again.
const CALM: Duration = Duration::from_secs(5);

/// Whether nobody can be taken up at the moment.
pub(super) struct Outage {
    place: &'static str,
    /// When somebody could not be taken up last.
    last: Option<Instant>,
}

impl Outage {
    pub(super) fn new(place: &'static str) -> Self {
        Self { place, last: None }
    }

    /// Somebody could not be taken up: tells why, unless that has been told.
    pub(super) fn failed(&mut self, error: &io::Error) {
        if !self.begins(Instant::now()) {
            return;
        }
        let place = self.place;
        if is_about_descriptors(error) {
            tracing::error!(
                %error,
                "nobody can call over {place} at the moment: this process has as many files and \
                 connections open as it may; raise the limit (`ulimit -n`, or `LimitNOFILE` of the unit)"
            );
        } else {
            tracing::error!(%error, "nobody can call over {place} at the moment");
        }
    }

    /// Somebody was taken up.
    pub(super) fn succeeded(&mut self) {
        if self.last.is_some() && self.ends(Instant::now()) {
            tracing::info!("calls over {} are taken again", self.place);
        }
    }

    fn begins(&mut self, now: Instant) -> bool {
        self.last.replace(now).is_none()
    }

    fn ends(&mut self, now: Instant) -> bool {
        let is_over = self.last.is_some_and(|last| now >= last + CALM);
        if is_over {
            self.last = None;
        }
        is_over
    }
}

#[cfg(unix)]
pub(super) fn is_about_descriptors(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let code = error.raw_os_error();
    code == Some(Errno::MFILE.raw_os_error()) || code == Some(Errno::NFILE.raw_os_error())
}

#[cfg(not(unix))]
pub(super) fn is_about_descriptors(_error: &io::Error) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_once_however_often_a_call_gets_through() {
        let mut outage = Outage::new("here");
        let start = Instant::now();
        assert!(outage.begins(start));
        for second in 1..60 {
            let now = start + Duration::from_secs(second);
            assert!(!outage.ends(now), "one call is no end of it");
            assert!(!outage.begins(now), "told again");
        }
        let later = start + Duration::from_secs(59) + CALM;
        assert!(outage.ends(later));
        assert!(!outage.ends(later), "over twice");
        assert!(outage.begins(later), "another one is told");
    }
}
