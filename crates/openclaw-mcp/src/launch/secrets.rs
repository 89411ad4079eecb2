//! The secrets that a server needs to start, got when it does.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use openclaw_config::{
    ConfigValue, Definition, NamedValue, SecretProviderSettings, SecretSettings, Server,
};
use openclaw_secret_stores::{SecretError, SecretErrorKind, SecretResolver};
use openclaw_secrets::{ConfiguredSource, Secret, SecretReference};

use crate::supervise::{Remedy, Unresolved};

/// Where the secrets of a configuration come from.
#[derive(Clone)]
pub(crate) struct SecretSource {
    resolver: CurrentResolver,
    pub(crate) settings: Arc<SecretSettings>,
}

/// What gets secrets, as of now: a reload with other variables makes another one.
pub(crate) type CurrentResolver = Arc<RwLock<Arc<SecretResolver>>>;

/// The secrets that a server needs, by what refers to them.
pub(crate) struct Secrets(HashMap<SecretReference, Secret>);

impl SecretSource {
    pub(crate) fn new(resolver: CurrentResolver, settings: Arc<SecretSettings>) -> Self {
        Self { resolver, settings }
    }

    /// What gets secrets now.
    pub(crate) fn resolver(&self) -> Arc<SecretResolver> {
        let resolver = self.resolver.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&resolver)
    }

    /// Gets all secrets that a server needs to start. Where one is missing there are none: a server
    /// with half of its credentials would fail in ways that nobody understands.
    pub(super) async fn of(&self, server: &Server) -> Result<Secrets, Unresolved> {
        self.of_values(server.name.as_str(), &server.launch_values())
            .await
    }

    /// Gets all secrets that some values of a server refer to, or none.
    pub(crate) async fn of_values(
        &self,
        server: &str,
        values: &[NamedValue<'_>],
    ) -> Result<Secrets, Unresolved> {
        let needed = references(values);
        if needed.is_empty() {
            return Ok(Secrets(HashMap::new()));
        }
        let references: Vec<_> = needed.iter().map(|(_, it)| (*it).clone()).collect();
        let answers = self.resolver().resolve(&self.settings, &references).await;
        let mut secrets = HashMap::new();
        let mut failures = Vec::new();
        let mut remedy = Remedy::Room;
        for ((field, reference), answer) in needed.iter().zip(answers) {
            match answer {
                Ok(resolved) => {
                    for remark in resolved.remarks {
                        tracing::warn!(
                            server,
                            field,
                            "the secret `{reference}`: {remark}; {}",
                            remark.fix()
                        );
                    }
                    secrets.insert((*reference).clone(), resolved.value);
                }
                Err(error) => {
                    remedy = remedy.max(remedy_of(reference, &error));
                    failures.push(failure(field, reference, &error));
                }
            }
        }
        if failures.is_empty() {
            return Ok(Secrets(secrets));
        }
        for failure in &failures {
            match remedy {
                // Asked for again and again, for as long as it takes: whoever does that says so.
                Remedy::Room | Remedy::Answer => tracing::debug!(server, "{failure}"),
                Remedy::Consent | Remedy::Change => tracing::error!(server, "{failure}"),
            }
        }
        Err(Unresolved {
            reason: failures.join("; "),
            remedy,
        })
    }

    /// How long getting the secrets of a server may take.
    pub(crate) fn patience(&self, server: &Server) -> Duration {
        let values = server.launch_values();
        let limits = references(&values).into_iter().map(|(_, reference)| {
            let SecretReference::Configured { provider, .. } = reference else {
                return self.settings.timeout;
            };
            let provider = self.settings.providers.get(provider);
            match provider.and_then(Definition::sound).map(|it| &**it) {
                Some(SecretProviderSettings::Exec(program)) => program.timeout,
                _ => self.settings.timeout,
            }
        });
        limits.max().unwrap_or_default()
    }
}

impl Secrets {
    /// The value of a variable.
    pub(crate) fn value(&self, field: &str, value: &ConfigValue) -> Result<Secret, Unresolved> {
        match value {
            ConfigValue::Plain { value, .. } => Ok(value.clone()),
            ConfigValue::Reference { prefix, secret } => {
                let found = self.0.get(secret);
                let found = found.ok_or_else(|| {
                    Unresolved::lasting(format!(
                        "`{field}`: the secret `{secret}` was not asked for"
                    ))
                })?;
                Ok(if prefix.is_empty() {
                    found.clone()
                } else {
                    Secret::new(format!("{prefix}{}", found.expose()))
                })
            }
        }
    }

    /// The value of a header, which can't hold everything that a secret can.
    pub(super) fn header(&self, field: &str, value: &ConfigValue) -> Result<Secret, Unresolved> {
        let text = self.value(field, value)?;
        let fits = |c: char| !c.is_ascii_control() || c == '\t';
        match value {
            ConfigValue::Reference { secret, .. } if !text.expose().chars().all(fits) => {
                Err(Unresolved::lasting(format!(
                    "`{field}`: the secret `{secret}` has a line break or another control \
                     character in it, which a header can't hold"
                )))
            }
            _ => Ok(text),
        }
    }
}

/// The references among some values.
fn references<'v>(values: &'v [NamedValue<'_>]) -> Vec<(&'v str, &'v SecretReference)> {
    let values = values.iter();
    values
        .filter_map(|(field, value)| match value {
            ConfigValue::Plain { .. } => None,
            ConfigValue::Reference { secret, .. } => Some((field.as_str(), secret)),
        })
        .collect()
}

/// What it takes for a secret to be had after all.
fn remedy_of(reference: &SecretReference, error: &SecretError) -> Remedy {
    if error.is_shortage() {
        return Remedy::Room;
    }
    if error.kind() != SecretErrorKind::Unavailable {
        return Remedy::Change;
    }
    match reference {
        SecretReference::Keyring { .. }
        | SecretReference::Configured {
            source: ConfiguredSource::Exec,
            ..
        } => Remedy::Consent,
        _ => Remedy::Answer,
    }
}

fn failure(field: &str, reference: &SecretReference, error: &SecretError) -> String {
    let hint = error.hint_text().map(|hint| format!(" ({hint})"));
    format!(
        "`{field}`: cannot get the secret `{reference}`: {error}{}",
        hint.unwrap_or_default()
    )
}
