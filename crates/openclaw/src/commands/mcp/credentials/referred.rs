//! References that stand in a configuration, and which of them lead to entries of ours.

use openclaw_config::{Authorization, Config, ConfigValue, Definition, Launch, Server};
use openclaw_secrets::SecretReference;

use crate::commands::mcp::credentials::{Field, account};

/// A reference that stands in a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands::mcp) struct Referred {
    pub(in crate::commands::mcp) server: String,
    pub(in crate::commands::mcp) field: Field,
    pub(in crate::commands::mcp) prefix: String,
    pub(in crate::commands::mcp) reference: SecretReference,
}

/// The references of the servers of a configuration.
pub(in crate::commands::mcp) fn referred(config: &Config) -> Vec<Referred> {
    let mut found = Vec::new();
    for server in config.servers() {
        let Some(definition) = server.definition.sound() else {
            continue;
        };
        for (field, value) in fields(definition) {
            if let ConfigValue::Reference { prefix, secret } = value {
                found.push(Referred {
                    server: server.name.to_string(),
                    field,
                    prefix: prefix.clone(),
                    reference: secret.clone(),
                });
            }
        }
    }
    found
}

/// Whether anything of a configuration refers to a secret.
pub(in crate::commands::mcp) fn is_referred_to(
    config: &Config,
    reference: &SecretReference,
) -> bool {
    let is_it = |value: &ConfigValue| matches!(value, ConfigValue::Reference { secret, .. } if secret == reference);
    let models = config.model_providers.values();
    let models = models.filter_map(Definition::sound);
    let mut keys = models.flat_map(|model| model.headers.values().chain(&model.api_key));
    let gateway = config.gateway.sound();
    let mut own = gateway
        .into_iter()
        .flat_map(|gateway| gateway.token.iter().chain(&gateway.password));
    let mut servers = referred(config).into_iter();
    servers.any(|it| it.reference == *reference) || keys.any(is_it) || own.any(is_it)
}

/// The places of a definition that can hold references.
fn fields(server: &Server) -> Vec<(Field, &ConfigValue)> {
    match &server.launch {
        Launch::Stdio(launch) => {
            let variables = launch.environment.iter();
            variables
                .map(|(name, value)| (Field::Variable(name.clone()), value))
                .collect()
        }
        Launch::Remote(launch) => {
            let headers = launch.headers.iter();
            let mut found: Vec<_> = headers
                .map(|(name, value)| (Field::Header(name.clone()), value))
                .collect();
            match &launch.authorization {
                Authorization::Header(value) => {
                    found.push((Field::Header("authorization".to_owned()), value));
                }
                Authorization::ApiKey(value) => found.push((Field::ApiKey, value)),
                Authorization::OAuth(settings) => {
                    let secret = settings.client_secret.iter();
                    found.extend(secret.map(|value| (Field::ClientSecret("auth"), value)));
                }
            }
            found
        }
    }
}

/// Whether a reference leads to an entry that was made for this place: by its name, so that what a
/// person stored for several purposes is not taken for ours.
pub(in crate::commands::mcp) fn is_ours(service: &str, referred: &Referred) -> bool {
    let SecretReference::Keyring {
        service: found,
        account: name,
        ..
    } = &referred.reference
    else {
        return false;
    };
    let own = |field: &Field| {
        let base = account(&referred.server, field, 1).to_lowercase();
        let name = name.to_lowercase();
        name.strip_prefix(&base).is_some_and(|rest| {
            let number = rest.strip_prefix('-').and_then(|n| n.parse::<u32>().ok());
            rest.is_empty() || number.is_some()
        })
    };
    found == service
        && match &referred.field {
            // Which of the blocks it was is not known any more.
            Field::ClientSecret(_) => ["auth", "oauth"]
                .iter()
                .any(|block| own(&Field::ClientSecret(block))),
            field => own(field),
        }
}
