//! Systems whose keyring we do not know.

use openclaw_config::Environment;
use openclaw_secrets::Secret;

use crate::error::SecretError;
use crate::keyring::Asking;

/// How a keyring is unlocked.
pub(super) const UNLOCKING: &str = "unlock it";

/// How an entry is stored by hand.
pub(super) fn storing(_service: &str, _account: &str) -> String {
    "keep the secret in another place: `secret://env/NAME` or `secret://file/PATH`".to_owned()
}

/// No place.
#[derive(Clone)]
pub(super) struct Place;

impl Place {
    pub(super) fn of(_environment: &Environment) -> Self {
        Self
    }

    pub(super) async fn open(&self, _asking: Asking) -> Result<Open, SecretError> {
        let error = SecretError::unavailable("this system has no keyring that we know");
        Err(error.hint(storing("", "")).absence())
    }
}

/// What can't be opened.
pub(super) enum Open {}

impl Open {
    pub(super) async fn check(&self) -> Result<(), SecretError> {
        match *self {}
    }

    pub(super) async fn get(&self, _: &str, _: &str) -> Result<Option<Secret>, SecretError> {
        match *self {}
    }

    pub(super) async fn get_unlocked(
        &self,
        _: &str,
        _: &str,
    ) -> Result<Option<Secret>, SecretError> {
        match *self {}
    }

    pub(super) async fn set(&self, _: &str, _: &str, _: &Secret) -> Result<(), SecretError> {
        match *self {}
    }

    pub(super) async fn delete(&self, _: &str, _: &str) -> Result<bool, SecretError> {
        match *self {}
    }
}
