//! Chance: numbers that nobody can foresee, or that a test says.

use ring::rand::{SecureRandom as _, SystemRandom};

/// Makes numbers.
pub(crate) trait Chance: Send + Sync {
    /// Some number.
    fn number(&self) -> u64;
}

/// The machine's own.
pub(crate) struct Dice(SystemRandom);

impl Dice {
    pub(crate) fn new() -> Self {
        Self(SystemRandom::new())
    }
}

impl Chance for Dice {
    fn number(&self) -> u64 {
        let mut bytes = [0; 8];
        // A machine without randomness has other troubles; waits and names work with any number.
        let _ = self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}
