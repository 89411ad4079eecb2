//! stub

use openclaw_secrets::SecretReference;
use tokio::time::Instant;

use crate::error::SecretError;
use crate::provider::{Fetching, SecretProvider, all_failed};

#[derive(Default)]
pub(crate) struct KeyringProvider;

impl SecretProvider for KeyringProvider {
    fn fetch<'p>(&'p self, references: &'p [SecretReference], _until: Instant) -> Fetching<'p> {
        Box::pin(async move { all_failed(references, &SecretError::unavailable("stub")) })
    }
}
