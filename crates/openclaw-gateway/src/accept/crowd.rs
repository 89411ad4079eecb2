//! How many connections each address has.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::whence::Whence;

/// How many connections there may be from one address, other than this machine's.
const EACH: usize = 64;

/// How many connections each address has. Those who say nothing hold theirs for as long as anybody may
/// be silent; without this, one of them could hold all there are.
#[derive(Clone, Default)]
pub(super) struct Crowd(Arc<Mutex<HashMap<Whence, usize>>>);

/// A connection, for as long as it counts.
pub(super) struct Counted {
    crowd: Crowd,
    /// None for this machine's own, and for a proxy on it: they are not counted.
    whence: Option<Whence>,
}

impl Crowd {
    /// Counts a connection; none if its address has as many as it may have.
    pub(super) fn enter(&self, from: IpAddr) -> Option<Counted> {
        let is_ours = from.to_canonical().is_loopback();
        let whence = (!is_ours).then(|| Whence::from(from));
        if let Some(whence) = whence {
            let mut crowd = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let count = crowd.entry(whence).or_default();
            if *count >= EACH {
                return None;
            }
            *count += 1;
        }
        Some(Counted {
            crowd: self.clone(),
            whence,
        })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let Some(whence) = self.whence else {
            return;
        };
        let crowd = &self.crowd.0;
        let mut crowd = crowd.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = crowd.get_mut(&whence) {
            *count -= 1;
            if *count == 0 {
                crowd.remove(&whence);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enter(crowd: &Crowd, from: &str) -> Option<Counted> {
        crowd.enter(from.parse().unwrap())
    }

    #[test]
    fn an_address_has_only_so_many_and_nobody_else_pays_for_it() {
        let crowd = Crowd::default();
        let mut held: Vec<_> = (0..EACH)
            .map(|_| enter(&crowd, "192.0.2.1").unwrap())
            .collect();
        assert!(enter(&crowd, "192.0.2.1").is_none());
        assert!(enter(&crowd, "::ffff:192.0.2.1").is_none());
        drop(enter(&crowd, "192.0.2.2").unwrap());
        held.pop();
        held.push(enter(&crowd, "192.0.2.1").unwrap());
        assert!(enter(&crowd, "192.0.2.1").is_none());
        drop(held);
        assert!(
            crowd.0.lock().unwrap().is_empty(),
            "nothing is kept of them"
        );
    }

    #[test]
    fn this_machine_is_not_counted() {
        let crowd = Crowd::default();
        for from in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            let held: Vec<_> = (0..=EACH).map(|_| enter(&crowd, from)).collect();
            assert!(held.iter().all(Option::is_some), "{from}");
        }
    }
}
