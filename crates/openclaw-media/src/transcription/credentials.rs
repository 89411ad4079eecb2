//! Keys and other values that may be secret, got when they are needed.

use std::collections::BTreeMap;
use std::sync::Arc;

use openclaw_config::{ConfigValue, Environment, SecretSettings, TranscriptionService};
use openclaw_secret_stores::SecretResolver;
use openclaw_secrets::{Redactor, Secret, SecretReference, looks_like_credential};

use crate::transcription::TranscriptionError;

/// Where values come from.
pub(super) struct Credentials {
    pub(super) environment: Arc<Environment>,
    pub(super) settings: Arc<SecretSettings>,
    pub(super) resolver: Arc<SecretResolver>,
    pub(super) redactor: Redactor,
}

impl Credentials {
    /// The key of a service: its own, else the usual one at the usual address. A key must not go to
    /// others because they speak like the one that it is for.
    pub(super) async fn key_of(
        &self,
        service: &TranscriptionService,
        variable: &str,
    ) -> Result<Option<Secret>, TranscriptionError> {
        if let Some(key) = &service.api_key {
            let mut keys = self.values(&[key]).await?;
            return Ok(keys.pop().inspect(|key| self.hide(key)));
        }
        if service.base_url.is_some() {
            return Ok(None);
        }
        let key = self.environment.own_variable(variable);
        let key = key.or_else(|| self.environment.variable(variable));
        match key.map(str::trim).filter(|key| !key.is_empty()) {
            Some(key) => {
                let key = Secret::new(key);
                self.hide(&key);
                Ok(Some(key))
            }
            None => Err(TranscriptionError::NoKey(format!(
                "neither `media.transcription.apiKey` nor `{variable}` is set"
            ))),
        }
    }

    /// Variables for a program.
    pub(super) async fn variables(
        &self,
        variables: &BTreeMap<String, ConfigValue>,
    ) -> Result<Vec<(String, Secret)>, TranscriptionError> {
        let given: Vec<&ConfigValue> = variables.values().collect();
        let values = self.values(&given).await?;
        let named: Vec<(String, Secret)> = variables.keys().cloned().zip(values).collect();
        for (name, value) in &named {
            if looks_like_credential(name, value.expose()) {
                self.hide(value);
            }
        }
        Ok(named)
    }

    async fn values(&self, given: &[&ConfigValue]) -> Result<Vec<Secret>, TranscriptionError> {
        let references: Vec<SecretReference> = given
            .iter()
            .filter_map(|value| match value {
                ConfigValue::Reference { secret, .. } => Some(secret.clone()),
                ConfigValue::Plain { .. } => None,
            })
            .collect();
        let mut resolved = if references.is_empty() {
            Vec::new()
        } else {
            self.resolver.resolve(&self.settings, &references).await
        }
        .into_iter();
        let mut values = Vec::with_capacity(given.len());
        for value in given {
            values.push(match value {
                ConfigValue::Plain { value, .. } => value.clone(),
                ConfigValue::Reference { prefix, .. } => match resolved.next() {
                    Some(Ok(found)) => Secret::new(format!("{prefix}{}", found.value.expose())),
                    Some(Err(error)) => return Err(TranscriptionError::NoKey(error.to_string())),
                    None => {
                        let reason = "its store did not answer".to_owned();
                        return Err(TranscriptionError::NoKey(reason));
                    }
                },
            });
        }
        Ok(values)
    }

    fn hide(&self, secret: &Secret) {
        // One that is too short or too common to be hidden is the service's to refuse.
        let _ = self.redactor.learn(secret);
    }
}
