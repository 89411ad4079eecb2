//! Waiting for the keyring, until somebody wants us to stop.

use openclaw_definitions::{Attendant, DefinitionError};
use openclaw_engine::EngineFailure;

use crate::failure::{Failure, Signal};
use crate::output::Output;
use crate::signals::Signals;

const WAITING: &str =
    "waiting for the keyring to be unlocked: a window may be asking for its password\n";

/// Hears whether somebody wants us to stop, from the first question to the keyring on. What asks
/// nothing of it ends as any program does.
#[derive(Default)]
pub(super) struct Patience {
    signals: Option<Signals>,
    heard: Option<Signal>,
}

impl Patience {
    /// Whoever is told that the keyring is waited for.
    pub(super) fn with<'p>(&'p mut self, output: &'p mut Output) -> Waiting<'p> {
        Waiting {
            patience: self,
            output,
        }
    }

    /// Why a definition was not written.
    pub(super) fn failure(&self, error: DefinitionError) -> Failure {
        match (error, self.heard) {
            (DefinitionError::Stopped, Some(signal)) => Failure::Interrupted(signal),
            (error, _) => EngineFailure::from(error).into(),
        }
    }

    /// Ends the command if somebody wanted that.
    pub(super) fn ended(&self) -> Result<(), Failure> {
        match self.heard {
            Some(signal) => Err(Failure::Interrupted(signal)),
            None => Ok(()),
        }
    }
}

/// The person before the terminal, while the keyring is asked.
pub(super) struct Waiting<'p> {
    patience: &'p mut Patience,
    output: &'p mut Output,
}

impl Attendant for Waiting<'_> {
    fn waits(&mut self) {
        // Who can't be told what is waited for waits all the same.
        let _ = self.output.explain(WAITING);
    }

    async fn stopped(&mut self) {
        let patience = &mut *self.patience;
        if patience.signals.is_none() {
            // Without it a signal ends us at once.
            let listening = Signals::listen();
            patience.signals = listening
                .inspect_err(|error| tracing::debug!("signals are not heard: {error}"))
                .ok();
        }
        match &mut patience.signals {
            Some(signals) => patience.heard = Some(signals.first().await),
            None => std::future::pending().await,
        }
    }
}
