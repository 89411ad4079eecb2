//! Models, secrets and the gateway.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::config::{
    Definition, FileMode, Gateway, GatewayAuthMode, GatewayBind, ModelFacts, ModelProvider,
    SecretProgram, SecretProviderSettings, SecretSettings, SessionRetention,
};
use crate::expand::Text;
use crate::raw::{
    ConfigValue, Entry, ProviderSource, RawCredential, RawProvider, RawRoot, RawSecretProvider,
};
use crate::report::{Kind, Problem};
use crate::resolve::Resolver;
use crate::server::{Reach, parse_address};
use crate::shape::{Field, NonEmpty};

/// The kinds of the providers of secrets, by their names.
pub(super) fn provider_kinds(root: &RawRoot) -> BTreeMap<String, ProviderSource> {
    secret_entries(root)
        .filter_map(|entry| Some((entry.name.clone(), *entry.raw.source.value()?)))
        .collect()
}

fn secret_entries(root: &RawRoot) -> impl Iterator<Item = &Entry<RawSecretProvider>> {
    let providers = root
        .secrets
        .value()
        .and_then(|secrets| secrets.providers.value());
    providers.into_iter().flat_map(|providers| &providers.0.0)
}

impl Resolver<'_> {
    pub(super) fn model_providers(
        &mut self,
        root: &RawRoot,
    ) -> BTreeMap<String, Definition<ModelProvider>> {
        let providers = root
            .models
            .value()
            .and_then(|models| models.providers.value());
        let entries = providers.into_iter().flat_map(|providers| &providers.0);
        entries
            .map(|entry| {
                // A key must not go to another host because the variable with the address is
                // missing, nor another key to this one.
                self.report.extend(entry.blocked.iter().cloned());
                self.report.extend(insecure_address(&entry.raw));
                let provider = model_provider(&entry.raw);
                let definition = Definition::new(Some(provider), entry.blocked.clone());
                (entry.name.clone(), definition)
            })
            .collect()
    }

    pub(super) fn session_retention(root: &RawRoot) -> SessionRetention {
        let usual = SessionRetention::default();
        let Some(raw) = root.session.value().and_then(|it| it.retention.value()) else {
            return usual;
        };
        SessionRetention {
            days: raw.days.value().map_or(usual.days, |days| days.0),
            sessions: raw.sessions.value().map_or(usual.sessions, |count| count.0),
            bytes: raw
                .megabytes
                .value()
                .map_or(usual.bytes, |megabytes| megabytes.0 * 1_000_000),
        }
    }

    pub(super) fn secrets(&mut self, root: &RawRoot) -> SecretSettings {
        let timeout = root.secrets.value().map(|secrets| &secrets.timeout);
        let timeout = timeout.and_then(Field::value);
        SecretSettings {
            providers: self.secret_providers(root),
            timeout: timeout.map_or(Duration::from_secs(10), |timeout| timeout.0),
        }
    }

    fn secret_providers(
        &mut self,
        root: &RawRoot,
    ) -> BTreeMap<String, Definition<SecretProviderSettings>> {
        secret_entries(root)
            .map(|entry| {
                let mut reasons = entry.blocked.clone();
                let provider = match self.secret_provider(&entry.raw) {
                    Ok(provider) => Some(provider),
                    // What is missing may have been given wrongly, which has been reported.
                    Err(message) if reasons.is_empty() && !entry.is_partial => {
                        let command = entry.raw.command.located();
                        let span = command.map_or(entry.name_span, |command| command.span);
                        let problem = Problem::error(Kind::Rule, &entry.path, message);
                        reasons.push(problem.at(span));
                        None
                    }
                    Err(_) => None,
                };
                self.report.extend(reasons.iter().cloned());
                (entry.name.clone(), Definition::new(provider, reasons))
            })
            .collect()
    }

    fn secret_provider(
        &self,
        raw: &RawSecretProvider,
    ) -> Result<SecretProviderSettings, &'static str> {
        let names = |field: &Field<Vec<NonEmpty>>| -> Option<Vec<String>> {
            let names = field.value()?;
            Some(names.iter().map(|name| name.0.value.clone()).collect())
        };
        match raw.source.value() {
            None => Err("a provider of secrets needs `source`: `env`, `file` or `exec`"),
            Some(ProviderSource::Environment) => Ok(SecretProviderSettings::Environment {
                allowlist: names(&raw.allowlist),
            }),
            Some(ProviderSource::File) => {
                let path = raw.path.value().ok_or("a `file` provider needs `path`")?;
                let path = self.environment.expand_home(&path.0.value);
                Ok(SecretProviderSettings::File {
                    path: self.directory.join(path),
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
                let environment = raw.env.value().cloned().unwrap_or_default();
                Ok(SecretProviderSettings::Exec(SecretProgram {
                    command,
                    args: texts(&raw.args),
                    environment: environment
                        .0
                        .into_iter()
                        .map(|entry| (entry.name, entry.value.value))
                        .collect(),
                    pass_environment: names(&raw.pass_env).unwrap_or_default(),
                    timeout: raw
                        .timeout
                        .value()
                        .map_or(Duration::from_secs(5), |timeout| timeout.0),
                    max_output_bytes: raw
                        .max_output_bytes
                        .value()
                        .map_or(1 << 20, |bytes| bytes.0),
                }))
            }
        }
    }

    pub(super) fn gateway(&mut self, root: &RawRoot) -> Definition<Gateway> {
        let raw = root.gateway.value().cloned().unwrap_or_default();
        let auth = raw.auth.value().cloned().unwrap_or_default();
        let mut reasons: Vec<Problem> = self
            .report
            .problems()
            .iter()
            .filter(|problem| problem.is_in_the_gateway() && problem.blocks())
            .cloned()
            .collect();
        if let Some(field) = root.gateway.located()
            && self.report.omitted() > 0
        {
            let message = "may have mistakes beyond those that are listed";
            reasons.push(Problem::error(Kind::Rule, &field.path, message).at(field.span));
        }
        let gateway = Gateway {
            port: raw
                .port
                .value()
                .and_then(|port| u16::try_from(port.0).ok())
                .unwrap_or(18789),
            bind: raw.bind.or(GatewayBind::Loopback),
            custom_host: raw.custom_bind_host.value().map(|it| it.0.value.clone()),
            allowed_hosts: raw
                .allowed_hosts
                .value()
                .into_iter()
                .flatten()
                .map(|it| it.0.value.clone())
                .collect(),
            auth_mode: auth.mode.or(GatewayAuthMode::Token),
            token: credential(&auth.token),
            password: credential(&auth.password),
            public_url: raw.public_url.value().and_then(|address| address.0.clone()),
        };
        Definition::new(Some(gateway), reasons)
    }
}

/// What there is to say about an address that everybody between can read along with.
fn insecure_address(raw: &RawProvider) -> Option<Problem> {
    let field = raw.base_url.located()?;
    let url = field.value.0.as_ref()?;
    let (_, Reach::Readable) = parse_address(url.as_str()).ok()? else {
        return None;
    };
    let host = url.host_str().unwrap_or_default();
    let problem = if raw.allow_insecure_http.or(false) {
        let message = format!("everybody between here and {host} can read along, the key included");
        Problem::warning(Kind::Advice, &field.path, message)
    } else {
        let message = format!("`http://` is only for this machine, and {host} is another one");
        let help = "write `https://`, or set `\"allowInsecureHttp\": true` if everybody between may \
                    read along";
        Problem::warning(Kind::Advice, &field.path, message).help(help)
    };
    Some(problem.at(field.span))
}

fn model_provider(raw: &RawProvider) -> ModelProvider {
    let headers = raw.headers.value().cloned().unwrap_or_default();
    let facts = raw.models.value().cloned().unwrap_or_default();
    ModelProvider {
        base_url: raw.base_url.value().and_then(|address| address.0.clone()),
        api_key: credential(&raw.api_key),
        api: raw.api.value().map(|api| api.value.clone()),
        headers: headers
            .0
            .into_iter()
            .map(|entry| (entry.name.to_ascii_lowercase(), entry.value.value))
            .collect(),
        timeout: raw
            .timeout_seconds
            .value()
            .map(|seconds| Duration::from_secs(seconds.0)),
        allow_insecure_http: raw.allow_insecure_http.or(false),
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

pub(super) fn credential(field: &Field<RawCredential>) -> Option<ConfigValue> {
    field.value().map(|credential| credential.value.clone())
}

/// The texts of a list; none where it is not given.
pub(super) fn texts(field: &Field<Vec<Text>>) -> Vec<String> {
    field
        .value()
        .map(|texts| texts.iter().map(|text| text.value.clone()).collect())
        .unwrap_or_default()
}
