//! What a provider is shown: its key and the headers of its own, got when they are needed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderMap, HeaderName, HeaderValue};
use openclaw_config::{ConfigValue, SecretSettings};
use openclaw_secret_stores::SecretResolver;
use openclaw_secrets::{Redactor, Secret, SecretReference, looks_like_credential};

use crate::error::ModelError;
use crate::wire::Api;

/// Where the credentials of a provider are.
pub(crate) struct Credentials {
    pub(crate) provider: String,
    pub(crate) api: Api,
    /// The key, where one is needed or given.
    pub(crate) key: Option<ConfigValue>,
    pub(crate) headers: BTreeMap<String, ConfigValue>,
    pub(crate) settings: Arc<SecretSettings>,
    pub(crate) resolver: Arc<SecretResolver>,
    pub(crate) redactor: Redactor,
    /// Those that were got and not refused since.
    pub(crate) at_hand: Mutex<Option<Arc<Known>>>,
}

/// Credentials that are at hand.
pub(crate) struct Known {
    headers: Vec<(HeaderName, HeaderValue)>,
    /// What they were made of, to tell whether others are others.
    values: Vec<Secret>,
}

impl Known {
    /// Puts them among the headers of a request.
    pub(crate) fn put(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.headers {
            headers.insert(name.clone(), value.clone());
        }
    }
}

impl Credentials {
    /// The credentials, from their stores if they are not at hand.
    pub(crate) async fn known(&self) -> Result<Arc<Known>, ModelError> {
        let known = self.at_hand().clone();
        match known {
            Some(known) => Ok(known),
            None => self.fetched().await,
        }
    }

    /// Others in the place of those that were refused, where their stores have others by now.
    pub(crate) async fn renewed(&self, refused: &Known) -> Result<Option<Arc<Known>>, ModelError> {
        if self.references().next().is_none() {
            return Ok(None);
        }
        *self.at_hand() = None;
        let known = self.fetched().await?;
        Ok((known.values != refused.values).then_some(known))
    }

    fn at_hand(&self) -> std::sync::MutexGuard<'_, Option<Arc<Known>>> {
        self.at_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn values(&self) -> impl Iterator<Item = &ConfigValue> {
        self.key.iter().chain(self.headers.values())
    }

    fn references(&self) -> impl Iterator<Item = &SecretReference> {
        self.values().filter_map(|value| match value {
            ConfigValue::Reference { secret, .. } => Some(secret),
            ConfigValue::Plain { .. } => None,
        })
    }

    async fn fetched(&self) -> Result<Arc<Known>, ModelError> {
        let references: Vec<SecretReference> = self.references().cloned().collect();
        let answers = if references.is_empty() {
            Vec::new()
        } else {
            self.resolver.resolve(&self.settings, &references).await
        };
        let mut secrets = Vec::with_capacity(references.len());
        for (reference, answer) in references.into_iter().zip(answers) {
            let resolved = answer.map_err(|error| ModelError::NoKey {
                provider: self.provider.clone(),
                reason: error.to_string(),
                hint: error.hint_text().unwrap_or_default().to_owned(),
            })?;
            secrets.push((reference, resolved.value));
        }
        let value = |value: &ConfigValue| match value {
            ConfigValue::Plain { value, .. } => value.clone(),
            ConfigValue::Reference { prefix, secret } => {
                let found = secrets.iter().find(|(reference, _)| reference == secret);
                let text = found.map_or("", |(_, value)| value.expose());
                Secret::new(format!("{prefix}{text}"))
            }
        };
        let key = self.key.as_ref().map(value);
        let headers = self.headers.iter();
        let headers: Vec<(&str, Secret)> = headers
            .map(|(name, given)| (name.as_str(), value(given)))
            .collect();
        let known = Arc::new(self.made(key.as_ref(), headers)?);
        *self.at_hand() = Some(Arc::clone(&known));
        Ok(known)
    }

    fn made(&self, key: Option<&Secret>, given: Vec<(&str, Secret)>) -> Result<Known, ModelError> {
        // What comes from a store was learned there.
        let shown = given
            .iter()
            .filter(|(name, value)| looks_like_credential(name, value.expose()))
            .map(|(_, value)| value);
        for secret in key.into_iter().chain(shown) {
            // One that is too short or too common to be hidden is the service's to refuse.
            let _ = self.redactor.learn(secret);
        }
        let usual = self.api.headers(key).into_iter();
        // What the configuration says comes last, and wins.
        let all = usual.chain(given);
        let mut headers = Vec::new();
        let mut values = Vec::new();
        for (name, value) in all {
            let made = HeaderValue::from_str(value.expose().trim());
            let (Ok(header), Ok(mut made)) = (HeaderName::try_from(name), made) else {
                return Err(ModelError::Misconfigured {
                    provider: self.provider.clone(),
                    reason: format!("the header `{name}` has characters that a header can't have"),
                    hint: "look for line ends and invisible characters in the key".to_owned(),
                });
            };
            made.set_sensitive(true);
            headers.push((header, made));
            values.push(value);
        }
        Ok(Known { headers, values })
    }
}
