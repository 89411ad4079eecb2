//! What stores see of the machine.

use std::path::PathBuf;
use std::sync::Arc;

use openclaw_config::Environment;
use openclaw_process::Launcher;
use openclaw_secrets::{Redactor, Secret};

/// What stores see of the machine: passed in rather than asked for, so that tests need not touch
/// it, and so that variables of `.env` files count.
#[derive(Clone)]
pub struct Surroundings {
    /// The variables and the home directory.
    pub environment: Arc<Environment>,
    /// What starts programs, and ends them with everything they started.
    pub launcher: Arc<Launcher>,
    /// What learns every credential the moment we have it: those that open stores, too.
    pub redactor: Redactor,
}

impl Surroundings {
    /// A variable that says how a store is reached, if it is set and not to nothing. It decides who
    /// gets credentials and which programs run, so the `.env` file of the current directory does
    /// not count.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let value = self.environment.own_variable(name);
        value.filter(|value| !value.is_empty())
    }

    /// The first of these variables that is set.
    pub(crate) fn first_variable(&self, names: &[&'static str]) -> Option<(&'static str, &str)> {
        names
            .iter()
            .find_map(|name| Some((*name, self.variable(name)?)))
    }

    /// A path below the home directory.
    pub(crate) fn below_home(&self, path: &str) -> Option<PathBuf> {
        Some(self.environment.home()?.join(path))
    }

    /// Takes over a credential that opens a store: no output shows it from now on.
    pub(crate) fn credential(&self, text: impl Into<String>) -> Secret {
        let secret = Secret::new(text);
        // One that is too short or too common to be hidden is the store's to refuse.
        let _ = self.redactor.learn(&secret);
        secret
    }
}
