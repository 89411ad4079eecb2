//! How many wrong credentials an address may send.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::whence::Whence;

/// How many may be sent at once.
const AT_ONCE: u32 = 10;
/// How long it takes until one more may be sent.
const EACH: Duration = Duration::from_secs(6);
/// How many addresses are told apart. Those that come on top of them share one count.
const ADDRESSES: usize = 10_000;
/// How often room is made at most.
const SWEEP: Duration = Duration::from_secs(1);

/// The wrong credentials of the recent past.
///
/// What is kept of an address is the moment at which all of its guesses are paid for. Looking does not
/// count, which is what keeps a password from being compared without counting those that fit.
pub(super) struct Guesses {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// Those that found no room are none, and share a count.
    paid: HashMap<Option<Whence>, Instant>,
    /// When those were last let go whose guesses are paid for.
    swept: Option<Instant>,
}

impl Kept {
    /// Whose count an address has, after what room can be made was made.
    fn whence(&mut self, from: IpAddr, now: Instant) -> Option<Whence> {
        let from = Some(Whence::from(from));
        if self.paid.contains_key(&from) || self.paid.len() < ADDRESSES {
            return from;
        }
        // Looking through all of them for each guess is what somebody with many addresses would like.
        if self.swept.is_none_or(|swept| now >= swept + SWEEP) {
            self.swept = Some(now);
            self.paid.retain(|_, paid| *paid > now);
        }
        if self.paid.len() < ADDRESSES {
            return from;
        }
        None
    }
}

impl Guesses {
    pub(super) fn new() -> Self {
        Self {
            kept: Mutex::default(),
        }
    }

    /// Whether an address may try; if not, in how many seconds.
    pub(super) fn may_try(&self, from: IpAddr) -> Result<(), u64> {
        self.may_try_at(from, Instant::now())
    }

    /// Counts a wrong credential; whether it was one too many, and how many seconds to wait then.
    pub(super) fn wrong(&self, from: IpAddr) -> Result<(), u64> {
        self.wrong_at(from, Instant::now())
    }

    fn may_try_at(&self, from: IpAddr, now: Instant) -> Result<(), u64> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let from = kept.whence(from, now);
        wait(kept.paid.get(&from).copied(), now)
    }

    fn wrong_at(&self, from: IpAddr, now: Instant) -> Result<(), u64> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let from = kept.whence(from, now);
        wait(kept.paid.get(&from).copied(), now)?;
        let until = kept.paid.entry(from).or_insert(now);
        *until = (*until).max(now) + EACH;
        Ok(())
    }
}

/// How many seconds are left until one more fits, given when all so far are paid for.
fn wait(paid: Option<Instant>, now: Instant) -> Result<(), u64> {
    let debt = paid.map_or(Duration::ZERO, |paid| paid.saturating_duration_since(now));
    let most = EACH * (AT_ONCE - 1);
    match debt.saturating_sub(most) {
        Duration::ZERO => Ok(()),
        left => Err(left.as_secs() + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u32) -> IpAddr {
        IpAddr::V4(std::net::Ipv4Addr::from(number))
    }

    #[test]
    fn ten_are_fine_and_then_one_every_six_seconds() {
        let guesses = Guesses::new();
        let now = Instant::now();
        for _ in 0..AT_ONCE {
            guesses.may_try_at(address(1), now).unwrap();
            guesses.wrong_at(address(1), now).unwrap();
        }
        let seconds = guesses.may_try_at(address(1), now).unwrap_err();
        assert_eq!(guesses.wrong_at(address(1), now).unwrap_err(), seconds);
        assert!((6..=7).contains(&seconds), "{seconds}");
        guesses.may_try_at(address(2), now).unwrap();

        let later = now + EACH;
        guesses.wrong_at(address(1), later).unwrap();
        guesses.wrong_at(address(1), later).unwrap_err();
        let much_later = now + EACH * 30;
        for _ in 0..AT_ONCE {
            guesses.wrong_at(address(1), much_later).unwrap();
        }
        guesses.wrong_at(address(1), much_later).unwrap_err();
    }

    #[test]
    fn looking_does_not_count() {
        let guesses = Guesses::new();
        let now = Instant::now();
        for _ in 0..100 {
            guesses.may_try_at(address(1), now).unwrap();
        }
        assert!(guesses.kept.lock().unwrap().paid.is_empty());
    }

    #[test]
    fn memory_is_bounded_and_what_is_paid_for_makes_room() {
        let guesses = Guesses::new();
        let now = Instant::now();
        for number in 0..20_000 {
            let _ = guesses.wrong_at(address(number), now);
        }
        let kept = guesses.kept.lock().unwrap().paid.len();
        assert!(kept <= ADDRESSES + 1, "{kept}");
        // Those that found no room share a count, and have used it up.
        guesses.wrong_at(address(30_000), now).unwrap_err();
        guesses.may_try_at(address(30_000), now).unwrap_err();
        let later = now + EACH * 2000;
        guesses.wrong_at(address(30_000), later).unwrap();
        assert_eq!(guesses.kept.lock().unwrap().paid.len(), 1);
    }
}
