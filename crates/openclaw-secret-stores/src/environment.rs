//! Variables of our own environment.

use openclaw_secrets::SecretReference;
use tokio::time::Instant;

use crate::error::SecretError;
use crate::provider::{Fetched, Fetching, SecretProvider};
use crate::surroundings::Surroundings;
use crate::value;

/// The variables of our environment, `.env` files included.
pub(crate) struct Variables {
    surroundings: Surroundings,
    limit: Option<Limit>,
}

/// Which of them may be read.
struct Limit {
    provider: String,
    names: Vec<String>,
}

impl Variables {
    /// All of them.
    pub(crate) fn all(surroundings: Surroundings) -> Self {
        Self {
            surroundings,
            limit: None,
        }
    }

    /// Those that an entry of `secrets.providers` allows.
    pub(crate) fn limited(
        surroundings: Surroundings,
        provider: &str,
        names: Option<&[String]>,
    ) -> Self {
        let limit = names.map(|names| Limit {
            provider: provider.to_owned(),
            names: names.to_vec(),
        });
        Self {
            surroundings,
            limit,
        }
    }

    fn get(&self, reference: &SecretReference) -> Fetched {
        let name = match reference {
            SecretReference::Environment { variable, .. } => variable,
            SecretReference::Configured { id, .. } => id,
            _ => return Err(SecretError::misconfigured("it is not a variable")),
        };
        if let Some(limit) = &self.limit
            && !limit.names.contains(name)
        {
            let reason = format!(
                "the variable {name} is not in the `allowlist` of the secret provider {:?}",
                limit.provider
            );
            return Err(SecretError::refused(reason));
        }
        match self.surroundings.environment.variable(name) {
            Some(text) => Ok(value::from_text(text)?.into()),
            None => Err(
                SecretError::missing(format!("the variable {name} is not set")).hint(format!(
                    "set {name} in the environment, or in the file `.env` of the state directory"
                )),
            ),
        }
    }
}

impl SecretProvider for Variables {
    fn fetch<'p>(&'p self, references: &'p [SecretReference], _until: Instant) -> Fetching<'p> {
        let answers = references.iter().map(|reference| self.get(reference));
        let answers = answers.collect();
        Box::pin(async move { answers })
    }
}
