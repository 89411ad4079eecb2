//! Reading that failed: when it is tried again, and what was told about it.

use std::time::Duration;

use tokio::time::Instant;

/// How long the first pause is.
const FIRST: Duration = Duration::from_secs(5);
/// How long a pause becomes.
const LONGEST: Duration = Duration::from_mins(1);

/// Reading that failed, if it did.
#[derive(Default)]
pub(super) struct Retrying {
    /// When it is tried again, and after which pause.
    next: Option<(Instant, Duration)>,
    /// What was told last.
    told: Option<String>,
}

impl Retrying {
    /// The files are others than those that could not be read.
    pub(super) fn begin_anew(&mut self) {
        *self = Self::default();
    }

    /// Whether it is time to try again.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.next.is_some_and(|(at, _)| now >= at)
    }

    /// Takes note of a failure; whether that is news.
    pub(super) fn failed(&mut self, message: String, now: Instant) -> bool {
        let pause = match self.next {
            Some((_, pause)) => (pause * 2).min(LONGEST),
            None => FIRST,
        };
        self.next = Some((now + pause, pause));
        let is_news = self.told.as_ref() != Some(&message);
        self.told = Some(message);
        is_news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_minute_and_begin_anew_with_other_files() {
        let mut retrying = Retrying::default();
        let mut now = Instant::now();
        assert!(!retrying.is_due(now), "nothing failed");
        for pause in [5, 10, 20, 40, 60, 60] {
            retrying.failed("no".to_owned(), now);
            let at = now + Duration::from_secs(pause);
            assert!(!retrying.is_due(at - Duration::from_millis(1)), "{pause}");
            assert!(retrying.is_due(at), "{pause}");
            now = at;
        }
        retrying.begin_anew();
        assert!(!retrying.is_due(now));
        retrying.failed("no".to_owned(), now);
        assert!(retrying.is_due(now + FIRST));
    }

    #[test]
    fn the_same_is_told_once() {
        let mut retrying = Retrying::default();
        let now = Instant::now();
        assert!(retrying.failed("no".to_owned(), now));
        assert!(!retrying.failed("no".to_owned(), now));
        assert!(retrying.failed("still no".to_owned(), now));
        assert!(!retrying.failed("still no".to_owned(), now));
        assert!(retrying.failed("no".to_owned(), now));
    }
}
