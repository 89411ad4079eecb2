//! The values of a configuration that may be credentials, each with the field it stands in.

use std::collections::BTreeMap;

use openclaw_secrets::SecretReference;

use crate::config::{Config, Gateway, MediaSettings, ModelProvider, OtelSettings, Transcriber};
use crate::raw::ConfigValue;
use crate::server::{Authorization, Launch, OAuthSettings, Server};

/// A value and the field it stands in, as people write it: `env.TOKEN`, `apiKey`.
pub type NamedValue<'c> = (String, &'c ConfigValue);

impl Server {
    /// All values that may be credentials.
    pub fn values(&self) -> Vec<NamedValue<'_>> {
        let mut values = self.launch_values();
        if let Launch::Remote(launch) = &self.launch
            && let Authorization::OAuth(settings) = &launch.authorization
        {
            values.extend(settings.values());
        }
        values
    }

    /// Those of them without which it can't be started or reached. What a login needs is not among
    /// them: there may be none to be made.
    pub fn launch_values(&self) -> Vec<NamedValue<'_>> {
        let launch = match &self.launch {
            Launch::Stdio(launch) => return named("env", &launch.environment),
            Launch::Remote(launch) => launch,
        };
        let mut values = named("headers", &launch.headers);
        match &launch.authorization {
            Authorization::Header(value) => {
                values.push(("headers.authorization".to_owned(), value));
            }
            Authorization::ApiKey(value) => values.push(("apiKey".to_owned(), value)),
            Authorization::OAuth(_) => {}
        }
        values
    }
}

impl OAuthSettings {
    /// All values that may be credentials: what a login needs.
    pub fn values(&self) -> Vec<NamedValue<'_>> {
        let secret = self.client_secret.as_ref();
        let key = self.private_key.as_ref();
        let secret = secret.map(|it| ("auth.clientSecret".to_owned(), it));
        let key = key.map(|it| ("auth.privateKey".to_owned(), it));
        secret.into_iter().chain(key).collect()
    }
}

impl ModelProvider {
    /// All values that may be credentials.
    pub fn values(&self) -> Vec<NamedValue<'_>> {
        let mut values = named("headers", &self.headers);
        values.extend(self.api_key.as_ref().map(|key| ("apiKey".to_owned(), key)));
        values
    }
}

impl Gateway {
    /// All values that may be credentials.
    pub fn values(&self) -> Vec<NamedValue<'_>> {
        let token = self.token.as_ref().map(|it| ("auth.token", it));
        let password = self.password.as_ref().map(|it| ("auth.password", it));
        let values = token.into_iter().chain(password);
        values
            .map(|(field, value)| (field.to_owned(), value))
            .collect()
    }
}

impl MediaSettings {
    /// All values that may be credentials.
    pub fn values(&self) -> Vec<NamedValue<'_>> {
        let transcription = self.transcription.as_ref().filter(|it| it.enabled);
        match transcription.map(|it| &it.by) {
            None => Vec::new(),
            Some(Transcriber::OpenAi(service) | Transcriber::Deepgram(service)) => {
                let key = service.api_key.iter();
                key.map(|it| ("transcription.apiKey".to_owned(), it))
                    .collect()
            }
            Some(Transcriber::Program(program)) => named("transcription.env", &program.environment),
        }
    }
}

impl OtelSettings {
    /// All values that may be credentials.
    pub fn values(&self) -> Vec<NamedValue<'_>> {
        if self.enabled && self.traces {
            named("otel.headers", &self.headers)
        } else {
            Vec::new()
        }
    }
}

fn named<'c>(section: &str, values: &'c BTreeMap<String, ConfigValue>) -> Vec<NamedValue<'c>> {
    let values = values.iter();
    values
        .map(|(name, value)| (format!("{section}.{name}"), value))
        .collect()
}

/// Whose a value is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueOwner {
    /// An MCP server of this name.
    Server(String),
    /// A provider of models of this name.
    ModelProvider(String),
    /// The gateway.
    Gateway,
    /// Files that come with messages.
    Media,
    /// What is told to those who watch over many programs.
    Diagnostics,
}

/// A reference to a secret, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedReference {
    /// Whose it is.
    pub owner: ValueOwner,
    /// The field it stands in.
    pub field: String,
    /// What it refers to.
    pub reference: SecretReference,
}

impl Config {
    /// All references to secrets of what is switched on, each place once.
    pub fn references(&self) -> Vec<PlacedReference> {
        let servers = self.servers().filter(|server| server.enabled);
        let servers = servers.filter_map(|server| Some((server, server.definition.sound()?)));
        let servers = servers.flat_map(|(server, definition)| {
            let owner = ValueOwner::Server(server.name.as_str().to_owned());
            placed(&owner, definition.values())
        });
        let models = self.model_providers.iter();
        let models = models.filter_map(|(name, provider)| Some((name, provider.sound()?)));
        let models = models.flat_map(|(name, provider)| {
            placed(&ValueOwner::ModelProvider(name.clone()), provider.values())
        });
        let gateway = self.gateway.sound().into_iter();
        let gateway = gateway.flat_map(|it| placed(&ValueOwner::Gateway, it.values()));
        let media = self.media.sound().into_iter();
        let media = media.flat_map(|it| placed(&ValueOwner::Media, it.values()));
        let otel = self.otel.sound().into_iter();
        let otel = otel.flat_map(|it| placed(&ValueOwner::Diagnostics, it.values()));
        let mut all: Vec<PlacedReference> = Vec::new();
        for reference in servers
            .chain(models)
            .chain(gateway)
            .chain(media)
            .chain(otel)
        {
            // Agents share most servers.
            if !all.contains(&reference) {
                all.push(reference);
            }
        }
        all
    }
}

fn placed(owner: &ValueOwner, values: Vec<NamedValue<'_>>) -> Vec<PlacedReference> {
    let references = values.into_iter().filter_map(|(field, value)| match value {
        ConfigValue::Plain { .. } => None,
        ConfigValue::Reference { secret, .. } => Some(PlacedReference {
            owner: owner.clone(),
            field,
            reference: secret.clone(),
        }),
    });
    references.collect()
}
