//! The secrets that a server needs to start, got when it does.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use openclaw_config::{ConfigValue, Definition, SecretProviderSettings, SecretSettings, Server};
use openclaw_secret_stores::{SecretError, SecretErrorKind, SecretResolver};
use openclaw_secrets::{Secret, SecretReference};

use crate::supervise::Unresolved;

/// Where the secrets of a configuration come from.
#[derive(Clone)]
pub(crate) struct SecretSource {
    pub(crate) resolver: Arc<SecretResolver>,
    pub(crate) settings: Arc<SecretSettings>,
}

/// The secrets that a server needs, by what refers to them.
pub(super) struct Secrets(HashMap<SecretReference, Secret>);

impl SecretSource {
    /// Gets all secrets that a server needs to start. Where one is missing there are none: a server
    /// with half of its credentials would fail in ways that nobody understands.
    pub(super) async fn of(&self, server: &Server) -> Result<Secrets, Unresolved> {
        let needed = references(server);
        if needed.is_empty() {
            return Ok(Secrets(HashMap::new()));
        }
        let references: Vec<_> = needed.iter().map(|(_, it)| (*it).clone()).collect();
        let answers = self.resolver.resolve(&self.settings, &references).await;
        let mut secrets = HashMap::new();
        let mut failures = Vec::new();
        let mut is_passing = true;
        for ((field, reference), answer) in needed.iter().zip(answers) {
            match answer {
                Ok(resolved) => {
                    for remark in resolved.remarks {
                        tracing::warn!(
                            server = server.name.as_str(),
                            field,
                            "the secret `{reference}`: {remark}; {}",
                            remark.fix()
                        );
                    }
                    secrets.insert((*reference).clone(), resolved.value);
                }
                Err(error) => {
                    is_passing &= error.kind() == SecretErrorKind::Unavailable;
                    failures.push(failure(field, reference, &error));
                }
            }
        }
        if failures.is_empty() {
            return Ok(Secrets(secrets));
        }
        for failure in &failures {
            tracing::error!(server = server.name.as_str(), "{failure}");
        }
        Err(Unresolved {
            reason: failures.join("; "),
            is_passing,
        })
    }

    /// How long getting the secrets of a server may take.
    pub(crate) fn patience(&self, server: &Server) -> Duration {
        let limits = references(server).into_iter().map(|(_, reference)| {
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
    pub(super) fn value(&self, field: &str, value: &ConfigValue) -> Result<Secret, Unresolved> {
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

/// The references that must be resolved before a server can start.
fn references(server: &Server) -> Vec<(String, &SecretReference)> {
    let values = server.launch_values().into_iter();
    values
        .filter_map(|(field, value)| match value {
            ConfigValue::Plain { .. } => None,
            ConfigValue::Reference { secret, .. } => Some((field, secret)),
        })
        .collect()
}

fn failure(field: &str, reference: &SecretReference, error: &SecretError) -> String {
    let hint = error.hint_text().map(|hint| format!(" ({hint})"));
    format!(
        "`{field}`: cannot get the secret `{reference}`: {error}{}",
        hint.unwrap_or_default()
    )
}
