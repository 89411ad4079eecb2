//! Logins that were begun and that nobody waits for yet.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use openclaw_engine::EngineFailure;

/// How many logins may be under way at once.
const MOST: usize = 16;

/// Logins that were begun and that nobody waits for yet, by their names.
pub(crate) struct RunningLogins<L>(Mutex<Places<L>>);

struct Places<L> {
    running: HashMap<String, Running<L>>,
    /// How many are about to begin.
    beginning: usize,
}

struct Running<L> {
    login: L,
    /// When it is too late.
    ends_at: SystemTime,
}

/// A place for a login that is about to begin.
pub(super) struct Place<'l, L>(&'l RunningLogins<L>);

impl<L> Default for RunningLogins<L> {
    fn default() -> Self {
        Self(Mutex::new(Places {
            running: HashMap::new(),
            beginning: 0,
        }))
    }
}

impl<L> RunningLogins<L> {
    /// Keeps a place for a login that is about to begin: whoever asks for one too many is refused
    /// before an authorization server hears of it.
    pub(super) fn begin(&self, now: SystemTime) -> Result<Place<'_, L>, EngineFailure> {
        let mut places = self.places(now);
        if places.running.len() + places.beginning >= MOST {
            let message = format!("{MOST} logins are under way already");
            return Err(EngineFailure::operation("busy", message));
        }
        places.beginning += 1;
        Ok(Place(self))
    }

    /// Takes out a login, to wait for it.
    pub(super) fn take(&self, name: &str, now: SystemTime) -> Option<L> {
        let running = self.places(now).running.remove(name);
        running.map(|running| running.login)
    }

    /// All places, without the logins that it is too late for.
    fn places(&self, now: SystemTime) -> MutexGuard<'_, Places<L>> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.running.retain(|_, running| running.ends_at > now);
        places
    }
}

impl<L> Place<'_, L> {
    /// Puts a login in the place that was kept for it.
    pub(super) fn fill(self, name: String, login: L, ends_at: SystemTime) {
        let places = self.0.0.lock();
        let mut places = places.unwrap_or_else(PoisonError::into_inner);
        places.running.insert(name, Running { login, ends_at });
    }
}

impl<L> Drop for Place<'_, L> {
    fn drop(&mut self) {
        let places = self.0.0.lock();
        places.unwrap_or_else(PoisonError::into_inner).beginning -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn one_too_many_is_refused_before_it_begins() {
        let logins = RunningLogins::default();
        for number in 0..8 {
            let place = logins.begin(at(0)).unwrap();
            place.fill(number.to_string(), number, at(10));
        }
        let beginning: Vec<_> = (0..8).map(|_| logins.begin(at(0)).unwrap()).collect();
        let refused = logins.begin(at(0)).err().unwrap();
        assert_eq!(refused.code, "busy");
        // Those that did not begin leave their places, and those that are waited for, too.
        drop(beginning);
        let place = logins.begin(at(0)).unwrap();
        place.fill("more".to_owned(), 8, at(10));
        assert_eq!(logins.take("3", at(0)), Some(3));
        assert_eq!(logins.take("3", at(0)), None);
        let left: Vec<_> = (0..8).map(|_| logins.begin(at(0)).unwrap()).collect();
        assert!(logins.begin(at(0)).is_err());
        assert_eq!(left.len(), 8);
    }

    #[test]
    fn what_it_is_too_late_for_is_forgotten_whatever_is_asked() {
        let logins = RunningLogins::default();
        let fill = |name: &str, ends_at| {
            let place = logins.begin(at(0)).unwrap();
            place.fill(name.to_owned(), (), ends_at);
        };
        fill("first", at(10));
        fill("second", at(20));
        assert_eq!(logins.take("nobody", at(10)), None);
        let count = || logins.0.lock().unwrap().running.len();
        assert_eq!(count(), 1);
        assert_eq!(logins.take("first", at(5)), None);
        drop(logins.begin(at(20)).unwrap());
        assert_eq!(count(), 0);
    }
}
