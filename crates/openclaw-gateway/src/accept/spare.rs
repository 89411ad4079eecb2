//! A descriptor that is kept for times in which there are no others, so that whoever calls can be told.

use std::fs::File;
use std::io;

use super::outage::is_about_descriptors;

/// What is opened for it. Where it is not, nothing is known of the shortage either.
const NOTHING: &str = "/dev/null";

/// The descriptor, where there is one.
pub(super) struct Spare(Option<File>);

impl Spare {
    pub(super) fn new() -> Self {
        Self(File::open(NOTHING).ok())
    }

    /// Leaves the descriptor to whoever does something with it, if it is what is missing; whether it was. What
    /// does not wait leaves nobody else the time to take it.
    pub(super) async fn lend(&mut self, error: &io::Error, work: impl Future<Output = ()>) -> bool {
        if !is_about_descriptors(error) {
            return false;
        }
        let is_lent = self.0.take().is_some();
        if is_lent {
            work.await;
        }
        self.refill();
        is_lent
    }

    /// Takes one again: where others are quicker than we are, that is tried with each who is taken up.
    pub(super) fn refill(&mut self) {
        if cfg!(unix) && self.0.is_none() {
            *self = Self::new();
        }
    }
}
