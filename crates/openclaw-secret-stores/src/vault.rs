//! stub

use openclaw_secrets::SecretReference;
use tokio::time::Instant;

use crate::error::SecretError;
use crate::provider::{Fetching, SecretProvider, all_failed};
use crate::surroundings::Surroundings;

pub(crate) struct Vault {
    surroundings: Surroundings,
}

impl Vault {
    pub(crate) fn new(surroundings: Surroundings) -> Self {
        Self { surroundings }
    }
}

impl SecretProvider for Vault {
    fn fetch<'p>(&'p self, references: &'p [SecretReference], _until: Instant) -> Fetching<'p> {
        let _ = &self.surroundings;
        Box::pin(async move { all_failed(references, &SecretError::unavailable("stub")) })
    }
}
