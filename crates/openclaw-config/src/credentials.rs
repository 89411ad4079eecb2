//! Which values of a configuration are credentials, and how they are shown: not at all.

use std::collections::BTreeMap;

use openclaw_secrets::{
    REDACTED, Secret, is_credential_name, looks_like_credential, may_be_credential,
};
use serde_json::{Map, Value as Json, json};
use url::Url;

use crate::arguments::named_credential;
use crate::config::{Config, Definition, SecretProviderSettings, Transcriber};
use crate::place::Place;
use crate::raw::ConfigValue;
use crate::server::{Authorization, Launch, Server};

impl Config {
    /// The credentials that stand in the configuration itself, for the filter that keeps them out
    /// of every output. Those that came from variables are in `Loaded`.
    pub fn credentials(&self) -> Vec<Secret> {
        let mut found = Vec::new();
        for server in self.servers() {
            if let Some(server) = server.definition.sound() {
                found.extend(server.credentials());
            }
        }
        for provider in self.model_providers.values().filter_map(Definition::sound) {
            collect(&provider.headers, &mut found);
            found.extend(provider.api_key.as_ref().and_then(secret_of));
        }
        for provider in self
            .secrets
            .providers
            .values()
            .filter_map(Definition::sound)
        {
            if let SecretProviderSettings::Exec(program) = &**provider {
                found.extend(argument_credentials(&program.args));
                let values = program.environment.iter();
                let credentials = values.filter(|(name, value)| is_credential(name, value, &[]));
                found.extend(credentials.map(|(_, value)| Secret::new(value.as_str())));
            }
        }
        let skills = self.skills.sound().into_iter();
        for skill in skills.flat_map(|skills| skills.entries.values()) {
            if let Some(skill) = skill.sound() {
                collect(&skill.environment, &mut found);
                found.extend(skill.api_key.as_ref().and_then(secret_of));
            }
        }
        if let Some(gateway) = self.gateway.sound() {
            let values = [&gateway.token, &gateway.password];
            found.extend(values.into_iter().flatten().filter_map(secret_of));
        }
        let media = self.media.sound();
        match media.and_then(|media| Some(&media.transcription.as_ref()?.by)) {
            Some(Transcriber::OpenAi(service) | Transcriber::Deepgram(service)) => {
                found.extend(service.api_key.as_ref().and_then(secret_of));
            }
            Some(Transcriber::Program(program)) => {
                collect(&program.environment, &mut found);
                found.extend(argument_credentials(&program.args));
            }
            None => {}
        }
        if let Some(otel) = self.otel.sound() {
            collect(&otel.headers, &mut found);
        }
        found.sort_by(|one, other| one.expose().cmp(other.expose()));
        found.dedup();
        found
    }
}

fn secret_of(value: &ConfigValue) -> Option<Secret> {
    match value {
        ConfigValue::Plain { value, .. } => Some(value.clone()),
        ConfigValue::Reference { .. } => None,
    }
}

impl Server {
    /// The credentials that stand in its definition itself. Of one that is lent, those that may be some: what
    /// is found here is hidden from models as well, and they need plain words and paths.
    pub fn credentials(&self) -> Vec<Secret> {
        let mut found = Vec::new();
        let collect = match self.place {
            Place::Session => collect_possible,
            _ => collect,
        };
        match &self.launch {
            Launch::Stdio(launch) => {
                collect(&launch.environment, &mut found);
                found.extend(argument_credentials(&launch.args));
            }
            Launch::Remote(launch) => {
                collect(&launch.headers, &mut found);
                found.extend(launch.url.password().map(Secret::new));
                match &launch.authorization {
                    Authorization::Header(value) | Authorization::ApiKey(value) => {
                        found.extend(secret_of(value));
                    }
                    Authorization::OAuth(settings) => {
                        let values = settings.values().into_iter();
                        found.extend(values.filter_map(|(_, value)| secret_of(value)));
                    }
                }
            }
        }
        found
    }
}

/// Adds those values that may be credentials.
fn collect_possible(values: &BTreeMap<String, ConfigValue>, found: &mut Vec<Secret>) {
    let values = values.iter();
    let values = values.filter_map(|(name, value)| Some((name, secret_of(value)?)));
    let possible = values.filter(|(name, value)| may_be_credential(name, value.expose()));
    found.extend(possible.map(|(_, value)| value));
}

/// Adds those values that are credentials.
fn collect(values: &BTreeMap<String, ConfigValue>, found: &mut Vec<Secret>) {
    for (name, value) in values {
        if let ConfigValue::Plain {
            value, variables, ..
        } = value
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

/// Values of which each may be a credential.
pub(crate) fn hidden(values: &BTreeMap<String, ConfigValue>) -> Json {
    let values = values.iter();
    let hidden = values.map(|(name, value)| (name.clone(), credential(value)));
    hidden.collect::<Map<String, Json>>().into()
}

/// Values of which some are credentials.
pub(crate) fn values(values: &BTreeMap<String, ConfigValue>) -> Json {
    values
        .iter()
        .map(|(name, value)| {
            let shown = match value {
                ConfigValue::Plain {
                    value, variables, ..
                } => {
                    json!(plain(name, value.expose(), variables))
                }
                ConfigValue::Reference { .. } => credential(value),
            };
            (name.clone(), shown)
        })
        .collect::<Map<String, Json>>()
        .into()
}

/// Whether a value is a credential: by its name, its looks, or a variable that it came from.
fn is_credential(name: &str, value: &str, variables: &[String]) -> bool {
    let named = std::iter::once(name).chain(variables.iter().map(String::as_str));
    is_named_credential(named, value) || looks_like_credential(name, value)
}

/// Whether a value stands under the name of a credential; then it is hidden, however plain.
fn is_named_credential<'n>(mut names: impl Iterator<Item = &'n str>, value: &str) -> bool {
    !matches!(value, "" | "true" | "false") && names.any(is_credential_name)
}

pub(crate) fn plain(name: &str, value: &str, variables: &[String]) -> String {
    if is_credential(name, value, variables) {
        REDACTED.to_owned()
    } else {
        value.to_owned()
    }
}

/// The arguments, each with the credential that it ends with, if it does.
fn with_credentials(args: &[String]) -> impl Iterator<Item = (&String, Option<&str>)> {
    let mut before = "";
    args.iter().map(move |argument| {
        let before = std::mem::replace(&mut before, argument);
        let credential = named_credential(before, argument).map(|(_, value)| value);
        (argument, credential)
    })
}

/// An address without what it may hold of credentials: who, and values with telling names.
pub(crate) fn address(url: &Url) -> String {
    let mut shown = url.clone();
    if !url.username().is_empty() || url.password().is_some() {
        // Only addresses without a host refuse this, and those have no users.
        let _ = shown.set_password(None);
        let _ = shown.set_username("redacted");
    }
    if url.query_pairs().any(|(name, _)| is_credential_name(&name)) {
        let pairs: Vec<(String, String)> = url
            .query_pairs()
            .map(|(name, value)| {
                let value = if is_credential_name(&name) {
                    "redacted".to_owned()
                } else {
                    value.into_owned()
                };
                (name.into_owned(), value)
            })
            .collect();
        shown.query_pairs_mut().clear().extend_pairs(pairs);
    }
    shown.into()
}

fn argument_credentials(args: &[String]) -> Vec<Secret> {
    with_credentials(args)
        .filter_map(|(_, credential)| Some(Secret::new(credential?.trim())))
        .collect()
}

/// Arguments, the credentials in them hidden.
pub(crate) fn arguments(args: &[String]) -> Json {
    with_credentials(args)
        .map(|(argument, credential)| {
            let start = credential.and_then(|credential| argument.strip_suffix(credential));
            match start {
                Some(start) => json!(format!("{start}{REDACTED}")),
                None => json!(argument),
            }
        })
        .collect::<Vec<Json>>()
        .into()
}
