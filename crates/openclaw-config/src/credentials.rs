//! Which values of a configuration are credentials, and how they are shown: not at all.

use std::collections::BTreeMap;

use openclaw_secrets::{REDACTED, Redactor, Secret, is_credential_name, looks_like_credential};
use serde_json::{Map, Value as Json, json};

use crate::config::{Config, Definition};
use crate::raw::ConfigValue;
use crate::server::{Authorization, Launch};

impl Config {
    /// The credentials that stand in the configuration itself or in its variables, for the filter
    /// that keeps them out of every output.
    pub fn credentials(&self) -> Vec<Secret> {
        let mut found = Vec::new();
        for server in self
            .agents
            .values()
            .flat_map(|agent| agent.servers.values())
        {
            let Definition::Sound(server) = &server.definition else {
                continue;
            };
            match &server.launch {
                Launch::Stdio(launch) => collect(&launch.environment, &mut found),
                Launch::Remote(launch) => {
                    collect(&launch.headers, &mut found);
                    match &launch.authorization {
                        Authorization::Header(value) | Authorization::ApiKey(value) => {
                            found.extend(secret_of(value));
                        }
                        Authorization::OAuth(settings) => {
                            found.extend(settings.client_secret.as_ref().and_then(secret_of));
                        }
                    }
                }
            }
        }
        for provider in self.model_providers.values() {
            collect(&provider.headers, &mut found);
            found.extend(provider.api_key.as_ref().and_then(secret_of));
        }
        let gateway = [&self.gateway.token, &self.gateway.password];
        found.extend(gateway.into_iter().flatten().filter_map(secret_of));
        found
    }
}

fn secret_of(value: &ConfigValue) -> Option<Secret> {
    match value {
        ConfigValue::Plain { value, .. } => Some(value.clone()),
        ConfigValue::Reference { .. } => None,
    }
}

/// Adds those values that are credentials.
fn collect(values: &BTreeMap<String, ConfigValue>, found: &mut Vec<Secret>) {
    for (name, value) in values {
        if let ConfigValue::Plain { value, variables } = value
            && is_credential(name, value.expose(), variables)
        {
            found.push(value.clone());
        }
    }
}

/// A value that is a credential by its place: the reference to it, or nothing of it.
pub(crate) fn credential(value: &ConfigValue) -> Json {
    match value {
        ConfigValue::Plain { .. } => json!(REDACTED),
        ConfigValue::Reference { prefix, secret } if prefix.is_empty() => json!(secret.to_string()),
        ConfigValue::Reference { prefix, secret } => {
            json!({ "prefix": prefix, "secret": secret.to_string() })
        }
    }
}

/// Values of which some are credentials.
pub(crate) fn values(values: &BTreeMap<String, ConfigValue>) -> Json {
    values
        .iter()
        .map(|(name, value)| {
            let shown = match value {
                ConfigValue::Plain { value, variables } => {
                    json!(plain(name, value.expose(), variables))
                }
                ConfigValue::Reference { .. } => credential(value),
            };
            (name.clone(), shown)
        })
        .collect::<Map<String, Json>>()
        .into()
}

/// Whether a value is a credential, by its own looks or by those of a variable it came from.
fn is_credential(name: &str, value: &str, variables: &[String]) -> bool {
    let from_variable = variables
        .iter()
        .any(|variable| is_credential_name(variable));
    from_variable || looks_like_credential(name, value)
}

pub(crate) fn plain(name: &str, value: &str, variables: &[String]) -> String {
    if is_credential(name, value, variables) {
        REDACTED.to_owned()
    } else {
        Redactor::new().redact(value).into_owned()
    }
}

/// Arguments, those after an option such as `--token` hidden.
pub(crate) fn arguments(args: &[String], redactor: &Redactor) -> Json {
    let mut hide = false;
    args.iter()
        .map(|argument| {
            let name = argument.trim_start_matches('-');
            let hidden = std::mem::replace(
                &mut hide,
                argument.starts_with('-') && !name.contains('=') && is_credential_name(name),
            );
            let assigned = name
                .split_once('=')
                .filter(|(name, value)| {
                    argument.starts_with('-') && looks_like_credential(name, value)
                })
                .and_then(|(_, value)| argument.strip_suffix(value));
            match assigned {
                _ if hidden => json!(REDACTED),
                Some(start) => json!(format!("{start}{REDACTED}")),
                None => json!(redactor.redact(argument)),
            }
        })
        .collect::<Vec<Json>>()
        .into()
}
