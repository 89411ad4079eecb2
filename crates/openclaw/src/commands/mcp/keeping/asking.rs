//! One question to the keyring, and how it is waited for.

use std::pin::pin;
use std::time::Duration;

use openclaw_secret_stores::{Keyring, SecretError, SecretErrorKind};

use crate::commands::mcp::keeping::Keeper;
use crate::failure::Failure;
use crate::output::Output;

/// How long the keyring may take until it is said that it is waited for.
const SILENCE: Duration = Duration::from_secs(2);
const WAITING: &str =
    "waiting for the keyring to be unlocked: a window may be asking for its password\n";

impl Keeper {
    /// Asks the keyring, until somebody wants us to stop. Once it is locked, refuses or is late, it
    /// is not asked again.
    pub(super) fn ask<T>(
        &mut self,
        output: &mut Output,
        action: impl AsyncFnOnce(&Keyring, &str) -> Result<T, SecretError>,
    ) -> Result<Result<T, SecretError>, Failure> {
        if let Some(trouble) = &self.trouble {
            return Ok(Err(trouble.clone()));
        }
        let mut signals = self.signals.clone();
        let (keyring, service) = (&self.keyring, &self.owner.service);
        let is_told = &mut self.is_wait_told;
        let asked = self.runtime.block_on(async {
            let mut work = pin!(action(keyring, service));
            let mut silence = pin!(tokio::time::sleep(SILENCE));
            loop {
                tokio::select! {
                    biased;
                    signal = signals.first() => return Err(Failure::Interrupted(signal)),
                    result = &mut work => return Ok(result),
                    () = &mut silence, if !*is_told => {
                        *is_told = true;
                        output.explain(WAITING)?;
                    }
                }
            }
        })?;
        self.trouble = asked.as_ref().err().filter(|it| is_trouble(it)).cloned();
        Ok(asked)
    }
}

/// Whether an error concerns the keyring, and not just one of its entries.
pub(super) fn is_trouble(error: &SecretError) -> bool {
    use SecretErrorKind::{Refused, Unavailable};
    matches!(error.kind(), Refused | Unavailable)
}
