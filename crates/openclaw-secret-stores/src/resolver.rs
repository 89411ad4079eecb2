//! From references to secrets.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use openclaw_config::{Definition, Problem, SecretProviderSettings, SecretSettings};
use openclaw_secrets::{ConfiguredSource, Learned, Secret, SecretReference};
use tokio::time::{Instant, timeout_at};

use crate::aws::Aws;
use crate::environment::Variables;
use crate::error::SecretError;
use crate::exec::Exec;
use crate::file::{Files, OneFile};
use crate::gcp::Gcp;
use crate::keyring::KeyringProvider;
use crate::provider::{Found, Remark, SecretProvider, all_failed};
use crate::surroundings::Surroundings;
use crate::vault::Vault;

/// Gets secrets from wherever they are kept.
///
/// Nothing is kept but what opens stores, such as an access token that is good for an hour: a
/// secret that was changed in its store is the new one the next time it is needed.
pub struct SecretResolver {
    surroundings: Surroundings,
    gcp: Arc<Gcp>,
    aws: Arc<Aws>,
    vault: Arc<Vault>,
    keyring: Arc<KeyringProvider>,
}

/// A secret, and what a person should know about it.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The secret.
    pub value: Secret,
    /// What a person should know about it.
    pub remarks: Vec<Remark>,
}

/// What makes two references ask the same store.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Store {
    Gcp,
    Aws,
    Vault,
    Environment,
    File,
    Keyring,
    Configured(ConfiguredSource, String),
}

/// A store, and how long it may take.
type Asked = (Arc<dyn SecretProvider>, Duration);

impl SecretResolver {
    /// A resolver for this machine. No store is asked for anything yet.
    pub fn new(surroundings: Surroundings) -> Self {
        Self {
            gcp: Arc::new(Gcp::new(surroundings.clone())),
            aws: Arc::new(Aws::new(surroundings.clone())),
            vault: Arc::new(Vault::new(surroundings.clone())),
            keyring: Arc::new(KeyringProvider::new(&surroundings)),
            surroundings,
        }
    }

    /// Gets secrets, all stores at the same time and each with a deadline. There is one answer for
    /// each reference, in their order. What is found is hidden in every output from then on.
    pub async fn resolve(
        &self,
        settings: &SecretSettings,
        references: &[SecretReference],
    ) -> Vec<Result<Resolved, SecretError>> {
        let mut wanted: HashMap<Store, Vec<SecretReference>> = HashMap::new();
        for reference in references {
            let of_store = wanted.entry(store_of(reference)).or_default();
            if !of_store.contains(reference) {
                of_store.push(reference.clone());
            }
        }
        let asking = wanted.into_iter().map(async |(store, references)| {
            let answers = self.ask(settings, &store, &references).await;
            references.into_iter().zip(answers).collect::<Vec<_>>()
        });
        let answers: HashMap<_, _> = join_all(asking).await.into_iter().flatten().collect();
        let silence = || Err(SecretError::unavailable("its store did not answer"));
        let answer = |reference| answers.get(reference).cloned().unwrap_or_else(silence);
        references.iter().map(answer).collect()
    }

    async fn ask(
        &self,
        settings: &SecretSettings,
        store: &Store,
        references: &[SecretReference],
    ) -> Vec<Result<Resolved, SecretError>> {
        let (provider, patience) = match self.provider(settings, store) {
            Ok(asked) => asked,
            Err(error) => return all_failed(references, &error),
        };
        let until = Instant::now() + patience;
        let fetching = provider.fetch(references, until);
        match timeout_at(until, fetching).await {
            // Hidden now, while other stores may still be asked.
            Ok(answers) => {
                let answers = answers.into_iter();
                answers
                    .map(|it| it.map(|found| self.resolved(found)))
                    .collect()
            }
            Err(_) => {
                let reason = format!("its store did not answer within {patience:?}");
                all_failed(references, &SecretError::unavailable(reason))
            }
        }
    }

    /// What answers for a store.
    fn provider(&self, settings: &SecretSettings, store: &Store) -> Result<Asked, SecretError> {
        let surroundings = self.surroundings.clone();
        let provider: Arc<dyn SecretProvider> = match store {
            Store::Gcp => self.gcp.clone(),
            Store::Aws => self.aws.clone(),
            Store::Vault => self.vault.clone(),
            Store::Keyring => self.keyring.clone(),
            Store::Environment => Arc::new(Variables::all(surroundings)),
            Store::File => Arc::new(Files::new(surroundings)),
            Store::Configured(source, name) => {
                return self.configured(settings, *source, name);
            }
        };
        Ok((provider, settings.timeout))
    }

    /// What answers for an entry of `secrets.providers`.
    fn configured(
        &self,
        settings: &SecretSettings,
        source: ConfiguredSource,
        name: &str,
    ) -> Result<Asked, SecretError> {
        let surroundings = self.surroundings.clone();
        let entry = match settings.providers.get(name) {
            Some(Definition::Sound(entry)) => &**entry,
            Some(Definition::Broken(problems)) => {
                let problems: Vec<&str> = problems.iter().map(Problem::message).collect();
                let reason = format!(
                    "the secret provider {name:?} can't be used: {}",
                    problems.join("; ")
                );
                return Err(SecretError::misconfigured(reason));
            }
            // Variables need no entry to say where they are.
            None if source == ConfiguredSource::Environment && name == DEFAULT_NAME => {
                return Ok((Arc::new(Variables::all(surroundings)), settings.timeout));
            }
            None => {
                let error = format!("there is no secret provider {name:?}");
                return Err(SecretError::misconfigured(error).hint("add it to `secrets.providers`"));
            }
        };
        let provider: Arc<dyn SecretProvider> = match (source, entry) {
            (ConfiguredSource::Environment, SecretProviderSettings::Environment { allowlist }) => {
                Arc::new(Variables::limited(surroundings, name, allowlist.as_deref()))
            }
            (ConfiguredSource::File, SecretProviderSettings::File { path, mode }) => {
                Arc::new(OneFile::new(path.clone(), *mode))
            }
            (ConfiguredSource::Exec, SecretProviderSettings::Exec(program)) => {
                let provider = Exec::new(surroundings, name, program);
                return Ok((Arc::new(provider), program.timeout));
            }
            _ => {
                let reason = format!(
                    "the secret provider {name:?} is not of the kind `{}`",
                    source.name()
                );
                return Err(SecretError::misconfigured(reason));
            }
        };
        Ok((provider, settings.timeout))
    }

    /// A secret that is there: hidden from now on.
    fn resolved(&self, found: Found) -> Resolved {
        let Found { value, remark } = found;
        let mut remarks: Vec<Remark> = remark.into_iter().collect();
        match self.surroundings.redactor.learn(&value) {
            Learned::Added | Learned::AlreadyKnown => {}
            Learned::TooShort | Learned::CommonWord | Learned::TooLong => {
                remarks.push(Remark::NotHidden);
            }
        }
        Resolved { value, remarks }
    }
}

/// The name of the provider that is meant where a reference names none.
const DEFAULT_NAME: &str = "default";

fn store_of(reference: &SecretReference) -> Store {
    match reference {
        SecretReference::Gcp { .. } => Store::Gcp,
        SecretReference::Aws { .. } => Store::Aws,
        SecretReference::Vault { .. } => Store::Vault,
        SecretReference::Environment { .. } => Store::Environment,
        SecretReference::File { .. } => Store::File,
        SecretReference::Keyring { .. } => Store::Keyring,
        SecretReference::Configured {
            source, provider, ..
        } => Store::Configured(*source, provider.clone()),
    }
}
