//! Models, secrets and the gateway.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use url::Url;

use crate::config::{
    FileMode, Gateway, GatewayAuthMode, ModelFacts, ModelProvider, SecretProvider,
};
use crate::expand::Text;
use crate::path::JsonPath;
use crate::raw::{
    ConfigValue, ProviderSource, RawCredential, RawProvider, RawRoot, RawSecretProvider,
};
use crate::report::{Kind, Problem};
use crate::resolve::Resolver;
use crate::shape::{Field, NonEmpty};

impl Resolver<'_> {
    pub(super) fn model_providers(&mut self, root: &RawRoot) -> BTreeMap<String, ModelProvider> {
        let providers = root
            .models
            .value()
            .and_then(|models| models.providers.value())
            .cloned()
            .unwrap_or_default();
        providers
            .0
            .into_iter()
            .map(|(name, raw)| (name, self.model_provider(&raw)))
            .collect()
    }

    fn model_provider(&mut self, raw: &RawProvider) -> ModelProvider {
        let headers = raw.headers.value().cloned().unwrap_or_default();
        let facts = raw.models.value().cloned().unwrap_or_default();
        ModelProvider {
            base_url: self.url(&raw.base_url),
            api_key: credential(&raw.api_key),
            api: raw.api.value().map(|api| api.value.clone()),
            headers: headers
                .0
                .into_iter()
                .filter(|(_, credential)| credential.is_complete)
                .map(|(name, credential)| (name.to_ascii_lowercase(), credential.value))
                .collect(),
            timeout: raw
                .timeout_seconds
                .value()
                .map(|seconds| Duration::from_secs(seconds.0)),
            models: facts
                .iter()
                .filter_map(|facts| {
                    Some(ModelFacts {
                        id: facts.id.value()?.0.value.clone(),
                        context_window: facts.context_window.value().map(|count| count.0),
                        max_tokens: facts.max_tokens.value().map(|count| count.0),
                        input: texts(&facts.input),
                    })
                })
                .collect(),
        }
    }

    pub(super) fn secret_providers(&mut self, root: &RawRoot) -> BTreeMap<String, SecretProvider> {
        let Some(Field::Given(providers)) = root.secrets.value().map(|secrets| &secrets.providers)
        else {
            return BTreeMap::new();
        };
        let mut result = BTreeMap::new();
        for (name, raw) in &providers.value.0 {
            let path = providers.path.child(name);
            match self.secret_provider(raw) {
                Ok(provider) => {
                    result.insert(name.clone(), provider);
                }
                Err(message) => {
                    let problem = Problem::error(Kind::Rule, &path, message).at(providers.span);
                    self.report.add(problem);
                }
            }
        }
        result
    }

    fn secret_provider(&self, raw: &RawSecretProvider) -> Result<SecretProvider, &'static str> {
        let names = |field: &Field<Vec<NonEmpty>>| -> Option<Vec<String>> {
            let names = field.value()?;
            Some(names.iter().map(|name| name.0.value.clone()).collect())
        };
        match raw.source.value() {
            None => Err("a provider of secrets needs `source`: `env`, `file` or `exec`"),
            Some(ProviderSource::Environment) => Ok(SecretProvider::Environment {
                allowlist: names(&raw.allowlist),
            }),
            Some(ProviderSource::File) => {
                let path = raw.path.value().ok_or("a `file` provider needs `path`")?;
                Ok(SecretProvider::File {
                    path: self.path(path),
                    mode: raw.mode.or(FileMode::Json),
                })
            }
            Some(ProviderSource::Exec) => {
                let command = raw
                    .command
                    .value()
                    .ok_or("an `exec` provider needs `command`")?;
                let command = self.environment.expand_home(&command.0.value);
                if !command.is_absolute() {
                    return Err("the `command` of a provider is an absolute path");
                }
                Ok(SecretProvider::Exec {
                    command,
                    args: texts(&raw.args),
                    environment: raw
                        .env
                        .value()
                        .map(|env| {
                            let pair =
                                |(name, text): &(String, Text)| (name.clone(), text.value.clone());
                            env.0.iter().map(pair).collect()
                        })
                        .unwrap_or_default(),
                    pass_environment: names(&raw.pass_env).unwrap_or_default(),
                    timeout: raw
                        .timeout
                        .value()
                        .map_or(Duration::from_secs(5), |timeout| timeout.0),
                    max_output_bytes: raw
                        .max_output_bytes
                        .value()
                        .map_or(1 << 20, |bytes| bytes.0),
                })
            }
        }
    }

    pub(super) fn gateway(&mut self, root: &RawRoot) -> Gateway {
        let raw = root.gateway.value().cloned().unwrap_or_default();
        let auth = raw.auth.value().cloned().unwrap_or_default();
        Gateway {
            port: raw
                .port
                .value()
                .and_then(|port| u16::try_from(port.0).ok())
                .unwrap_or(18789),
            auth_mode: auth.mode.or(GatewayAuthMode::Token),
            token: credential(&auth.token),
            password: credential(&auth.password),
            public_url: self.url(&raw.public_url),
        }
    }

    fn url(&mut self, field: &Field<NonEmpty>) -> Option<Url> {
        let field = field
            .located()
            .filter(|field| field.value.0.is_complete())?;
        match crate::server::parse_address(&field.value.0.value) {
            Ok(url) => Some(url),
            Err(message) => {
                let path: &JsonPath = &field.path;
                self.report
                    .add(Problem::error(Kind::Value, path, message).at(field.span));
                None
            }
        }
    }

    fn path(&self, path: &NonEmpty) -> PathBuf {
        Path::new(self.directory).join(self.environment.expand_home(&path.0.value))
    }
}

/// A credential whose variables are all set; one that lacks some would be sent as `${NAME}`.
fn credential(field: &Field<RawCredential>) -> Option<ConfigValue> {
    field
        .value()
        .filter(|credential| credential.is_complete)
        .map(|credential| credential.value.clone())
}

/// The texts of a list; none where it is not given.
pub(super) fn texts(field: &Field<Vec<Text>>) -> Vec<String> {
    field
        .value()
        .map(|texts| texts.iter().map(|text| text.value.clone()).collect())
        .unwrap_or_default()
}
