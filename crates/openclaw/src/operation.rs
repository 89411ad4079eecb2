//! The identifier that ties together everything that is done for one command or request.

use std::fmt;

use ring::rand::{SecureRandom, SystemRandom};

/// A random identifier, in every log line of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OperationId(u64);

impl OperationId {
    /// A new identifier.
    pub(crate) fn new() -> Self {
        let mut bytes = [0; 8];
        // Without random numbers an operation is still done; its log lines have a duller name.
        if SystemRandom::new().fill(&mut bytes).is_err() {
            bytes = u64::from(std::process::id()).to_le_bytes();
        }
        Self(u64::from_le_bytes(bytes))
    }
}

impl fmt::Display for OperationId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}
