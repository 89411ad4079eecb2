//! One question to the keyring, and how it is waited for.

use std::pin::pin;
use std::time::Duration;

use openclaw_secret_stores::{SecretError, SecretErrorKind};

use crate::attendant::Attendant;
use crate::failure::DefinitionError;
use crate::keeping::Keeper;

/// How long the keyring may take until it is said that it is waited for.
const SILENCE: Duration = Duration::from_secs(2);

impl Keeper {
    /// Asks the keyring, until nobody wants to wait any longer. Once it is locked, refuses or is late,
    /// it is not asked again.
    pub(super) async fn ask<T>(
        &mut self,
        attendant: &mut impl Attendant,
        work: impl Future<Output = Result<T, SecretError>>,
    ) -> Result<Result<T, SecretError>, DefinitionError> {
        if let Some(trouble) = &self.trouble {
            return Ok(Err(trouble.clone()));
        }
        let mut work = pin!(work);
        let mut silence = pin!(tokio::time::sleep(SILENCE));
        let asked = loop {
            tokio::select! {
                biased;
                () = attendant.stopped() => return Err(DefinitionError::Stopped),
                result = &mut work => break result,
                () = &mut silence, if !self.is_wait_told => {
                    self.is_wait_told = true;
                    attendant.waits();
                }
            }
        };
        self.trouble = asked.as_ref().err().filter(|it| is_trouble(it)).cloned();
        Ok(asked)
    }
}

/// Whether an error concerns the keyring, and not just one of its entries.
pub(super) fn is_trouble(error: &SecretError) -> bool {
    use SecretErrorKind::{Refused, Unavailable};
    matches!(error.kind(), Refused | Unavailable)
}
