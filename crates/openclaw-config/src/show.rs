//! The resolved configuration as JSON that can be shown to anybody.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use openclaw_secrets::Redactor;
use serde_json::{Map, Value as Json, json};
use url::Url;

use crate::config::{
    Agent, Config, ConfiguredServer, Definition, MediaSettings, ModelProvider, OtelSettings,
    SecretProgram, SecretProviderSettings, SkillSettings, SkillsSettings, Transcriber,
    TranscriptionService, TranscriptionSettings,
};
use crate::credentials::{address, arguments, credential, hidden, plain, values};
use crate::place::Place;
use crate::raw::ConfigValue;
use crate::report::Problem;
use crate::server::{
    Authorization, InheritedEnvironment, Launch, OAuthSettings, RemoteLaunch, RemoteTransport,
    Restart, Server, ServerScope, StdioLaunch,
};

impl Config {
    /// The configuration in the shape of the file, defaults filled in, for one agent's eyes:
    /// `mcp.servers` are that agent's; the others are shown with what they have of their own.
    ///
    /// Whatever is or looks like a credential reads `[REDACTED]`, and everything passes the given
    /// filter, which should know the credentials that variables put in.
    pub fn show(&self, agent: &Agent, redactor: &Redactor) -> Json {
        let entries: Map<String, Json> = self
            .agents
            .values()
            .map(|entry| {
                let mut shown = show_agent(entry);
                shown.insert("default".to_owned(), json!(entry.id == self.default_agent));
                let own = servers(entry.servers.own());
                shown.insert("mcp".to_owned(), json!({ "servers": own }));
                (entry.id.to_string(), Json::Object(shown))
            })
            .collect();
        let mut shown = json!({
            "agent": agent.id.as_str(),
            "mcp": {
                "servers": servers(agent.servers.iter()),
                "maxConcurrentServers": self.server_limits.others,
                "debug": self.debug,
            },
            "plugins": { "entries": { "mcp-client": { "config": {
                "maxConcurrentServers": self.server_limits.plugin,
            } } } },
            "agents": { "entries": entries },
            "models": { "providers": show_all(&self.model_providers, model_provider) },
            "skills": show_definition(&self.skills, skills),
            "media": show_definition(&self.media, media),
            "diagnostics": show_definition(&self.otel, diagnostics),
            "secrets": {
                "timeoutMs": milliseconds(self.secrets.timeout),
                "providers": show_all(&self.secrets.providers, secret_provider),
            },
            "gateway": show_definition(&self.gateway, |gateway| json!({
                "port": gateway.port,
                "bind": gateway.bind.as_str(),
                "customBindHost": gateway.custom_host,
                "allowedHosts": gateway.allowed_hosts,
                "auth": {
                    "mode": gateway.auth_mode.as_str(),
                    "token": gateway.token.as_ref().map(credential),
                    "password": gateway.password.as_ref().map(credential),
                },
                "publicUrl": gateway.public_url.as_ref().map(address),
            })),
        });
        tidy(&mut shown, redactor);
        shown
    }
}

/// Leaves out what is not set, and passes every text through the filter.
fn tidy(value: &mut Json, redactor: &Redactor) {
    match value {
        Json::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members
                .values_mut()
                .for_each(|member| tidy(member, redactor));
        }
        Json::Array(elements) => elements
            .iter_mut()
            .for_each(|element| tidy(element, redactor)),
        Json::String(text) => {
            if let Cow::Owned(filtered) = redactor.redact(text) {
                *text = filtered;
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

fn servers<'s>(servers: impl Iterator<Item = &'s Arc<ConfiguredServer>>) -> Json {
    servers
        .map(|server| (server.name.to_string(), show_server(server)))
        .collect::<Map<String, Json>>()
        .into()
}

/// A part that can be used, or why it can't.
fn show_definition<T>(definition: &Definition<T>, show: impl Fn(&T) -> Json) -> Json {
    match definition {
        Definition::Sound(value) => show(value),
        Definition::Broken(reasons) => json!({ "problems": problems(reasons) }),
    }
}

fn problems(reasons: &[Problem]) -> Vec<String> {
    reasons
        .iter()
        .map(|problem| format!("{}: {}", problem.path(), problem.message()))
        .collect()
}

fn show_agent(agent: &Agent) -> Map<String, Json> {
    let shown = json!({
        "model": agent.model.as_ref().map(|model| json!({
            "primary": model.primary,
            "fallbacks": model.fallbacks,
        })),
        "workspace": agent.workspace,
        "timeoutSeconds": agent.timeout.as_secs(),
        "maxRounds": agent.max_rounds,
        "tools": {
            "layers": agent.policy.iter().map(|layer| json!({
                "origin": layer.origin,
                "allow": layer.allow,
                "deny": layer.deny,
            })).collect::<Vec<Json>>(),
            "approval": agent.approval.as_str(),
            "approvalWithoutPerson": agent.without_person.as_str(),
            "readOnly": agent.read_only,
            "toolSearch": agent.tool_search.as_str(),
        },
        "resources": {
            "inject": agent.resources.inject,
            "maxBytes": agent.resources.max_bytes,
        },
    });
    match shown {
        Json::Object(shown) => shown,
        _ => Map::new(),
    }
}

fn show_server(configured: &ConfiguredServer) -> Json {
    let mut shown = Map::new();
    shown.insert("enabled".to_owned(), json!(configured.enabled));
    match &configured.definition {
        Definition::Broken(reasons) => {
            shown.insert("problems".to_owned(), json!(problems(reasons)));
        }
        Definition::Sound(server) => {
            match &server.launch {
                Launch::Stdio(launch) => stdio(launch, &server.place, &mut shown),
                Launch::Remote(launch) => remote(launch, &server.place, &mut shown),
            }
            settings(server, &mut shown);
        }
    }
    shown.insert("place".to_owned(), json!(configured.place.to_string()));
    Json::Object(shown)
}

fn settings(server: &Server, shown: &mut Map<String, Json>) {
    let (restart_on_crash, max_restarts) = match server.restart {
        Restart::Never => (false, 0),
        Restart::AtMost(count) => (true, count),
    };
    let settings = json!({
        "connectionTimeoutMs": milliseconds(server.timeouts.connection),
        "requestTimeoutMs": milliseconds(server.timeouts.request),
        "maxTotalTimeoutMs": milliseconds(server.timeouts.total),
        "supportsParallelToolCalls": server.parallel_calls,
        "restartOnCrash": restart_on_crash,
        "maxRestarts": max_restarts,
        "lazy": server.lazy,
        "idleTimeoutMs": server.idle_timeout.map(milliseconds),
        "scope": match server.scope {
            ServerScope::Shared => "shared",
            ServerScope::Session => "session",
        },
        "toolNaming": server.naming.as_str(),
        "toolPrefix": server.tool_prefix,
        "toolFilter": {
            "include": server.tool_filter.include,
            "exclude": server.tool_filter.exclude,
        },
        "alwaysLoad": server.always_load,
        "trustAnnotations": server.trust_annotations,
        "pin": server.pin.as_str(),
        "maxResultBytes": server.max_result_bytes,
        "resources": {
            "inject": server.resources.inject,
            "maxBytes": server.resources.max_bytes,
        },
        "toolDiscoveryInterval": server.discovery_interval.map_or(0, milliseconds),
    });
    if let Json::Object(settings) = settings {
        shown.extend(settings);
    }
}

/// Variables or headers; of a server that is lent, every value may be a credential.
fn named(place: &Place, named: &BTreeMap<String, ConfigValue>) -> Json {
    match place {
        Place::Session => hidden(named),
        _ => values(named),
    }
}

fn stdio(launch: &StdioLaunch, place: &Place, shown: &mut Map<String, Json>) {
    shown.insert("transport".to_owned(), json!("stdio"));
    shown.insert("command".to_owned(), json!(launch.command));
    shown.insert("args".to_owned(), arguments(&launch.args));
    shown.insert("env".to_owned(), named(place, &launch.environment));
    let inherited = match &launch.inherited {
        InheritedEnvironment::Nothing => json!(false),
        InheritedEnvironment::All => json!(true),
        InheritedEnvironment::Names(names) => json!(names),
    };
    shown.insert("inheritEnv".to_owned(), inherited);
    shown.insert("cwd".to_owned(), json!(launch.directory));
    shown.insert("protocol".to_owned(), json!(launch.protocol.as_str()));
    shown.insert(
        "roots".to_owned(),
        json!(addresses(launch.roots.as_deref())),
    );
}

fn remote(launch: &RemoteLaunch, place: &Place, shown: &mut Map<String, Json>) {
    let transport = match launch.transport {
        RemoteTransport::Http => "http",
        RemoteTransport::Sse => "sse",
    };
    shown.insert("transport".to_owned(), json!(transport));
    shown.insert("url".to_owned(), json!(address(&launch.url)));
    let mut headers = launch.headers.clone();
    match &launch.authorization {
        Authorization::Header(value) => {
            headers.insert("authorization".to_owned(), value.clone());
        }
        Authorization::ApiKey(value) => {
            shown.insert("apiKey".to_owned(), json!(credential(value)));
        }
        Authorization::OAuth(settings) => {
            shown.insert("auth".to_owned(), oauth(settings));
        }
    }
    shown.insert("headers".to_owned(), named(place, &headers));
    shown.insert("sslVerify".to_owned(), json!(launch.tls.verify));
    shown.insert("caCert".to_owned(), json!(launch.tls.authorities));
    let identity = launch.tls.identity.as_ref();
    shown.insert(
        "clientCert".to_owned(),
        json!(identity.map(|identity| &identity.certificate)),
    );
    shown.insert(
        "clientKey".to_owned(),
        json!(identity.and_then(|identity| identity.key.as_ref())),
    );
    shown.insert("protocol".to_owned(), json!(launch.protocol.as_str()));
    shown.insert(
        "roots".to_owned(),
        json!(addresses(launch.roots.as_deref())),
    );
}

fn oauth(settings: &OAuthSettings) -> Json {
    let address = |url: &Option<Url>| url.as_ref().map(address);
    json!({
        "grantType": settings.grant_type.as_str(),
        "clientId": settings.client_id,
        "clientSecret": settings.client_secret.as_ref().map(credential),
        "privateKey": settings.private_key.as_ref().map(credential),
        "keyId": settings.key_id,
        "authorizationServerUrl": address(&settings.authorization_server),
        "scopes": settings.scopes,
        "redirectUrl": address(&settings.redirect_url),
        "clientMetadataUrl": address(&settings.client_metadata_url),
        "callbackHost": settings.callback_host.as_str(),
        "callbackPort": settings.callback_port.unwrap_or(0),
        "callbackPath": settings.callback_path,
    })
}

fn model_provider(provider: &ModelProvider) -> Json {
    json!({
        "baseUrl": provider.base_url.as_ref().map(address),
        "apiKey": provider.api_key.as_ref().map(credential),
        "api": provider.api,
        "headers": values(&provider.headers),
        "timeoutSeconds": provider.timeout.map(|timeout| timeout.as_secs()),
        "models": provider.models.iter().map(|facts| json!({
            "id": facts.id,
            "contextWindow": facts.context_window,
            "maxTokens": facts.max_tokens,
            "input": facts.input,
        })).collect::<Vec<Json>>(),
    })
}

fn skills(settings: &SkillsSettings) -> Json {
    let entry = |settings: &SkillSettings| {
        json!({
            "enabled": settings.enabled,
            "env": values(&settings.environment),
            "apiKey": settings.api_key.as_ref().map(credential),
        })
    };
    json!({
        "load": { "extraDirs": settings.extra_directories },
        "allowBundled": settings.allow_bundled,
        "entries": show_all(&settings.entries, entry),
    })
}

fn media(settings: &MediaSettings) -> Json {
    let Some(transcription) = &settings.transcription else {
        return Json::Null;
    };
    json!({ "transcription": show_transcription(transcription) })
}

fn diagnostics(settings: &OtelSettings) -> Json {
    if *settings == not_set() {
        return Json::Null;
    }
    json!({ "otel": {
        "enabled": settings.enabled,
        "traces": settings.traces,
        "endpoint": settings.endpoint.as_ref().map(address),
        "headers": hidden(&settings.headers),
        "serviceName": settings.service_name,
        "sampleRate": settings.sample_rate,
        "flushIntervalMs": settings.flush_interval.map(milliseconds),
    } })
}

/// What the settings are where there are none.
fn not_set() -> OtelSettings {
    OtelSettings {
        traces: true,
        ..OtelSettings::default()
    }
}

fn show_transcription(settings: &TranscriptionSettings) -> Json {
    let service = |provider: &str, service: &TranscriptionService| {
        json!({
            "provider": provider,
            "baseUrl": service.base_url.as_ref().map(address),
            "apiKey": service.api_key.as_ref().map(credential),
            "model": service.model,
        })
    };
    let mut shown = match &settings.by {
        Transcriber::OpenAi(it) => service("openai", it),
        Transcriber::Deepgram(it) => service("deepgram", it),
        Transcriber::Program(program) => json!({
            "provider": "command",
            "command": program.command,
            "args": arguments(&program.args),
            "env": values(&program.environment),
        }),
    };
    shown["enabled"] = json!(settings.enabled);
    shown["language"] = json!(settings.language);
    shown["timeoutMs"] = json!(milliseconds(settings.timeout));
    shown
}

fn secret_provider(provider: &SecretProviderSettings) -> Json {
    match provider {
        SecretProviderSettings::Environment { allowlist } => {
            json!({ "source": "env", "allowlist": allowlist })
        }
        SecretProviderSettings::File { path, mode } => {
            json!({ "source": "file", "path": path, "mode": mode.as_str() })
        }
        SecretProviderSettings::Exec(SecretProgram {
            command,
            args,
            environment,
            pass_environment,
            timeout,
            max_output_bytes,
        }) => {
            let environment: Map<String, Json> = environment
                .iter()
                .map(|(name, value)| (name.clone(), json!(plain(name, value, &[]))))
                .collect();
            json!({
                "source": "exec",
                "command": command,
                "args": arguments(args),
                "env": environment,
                "passEnv": pass_environment,
                "timeoutMs": milliseconds(*timeout),
                "maxOutputBytes": max_output_bytes,
            })
        }
    }
}

fn show_all<T>(entries: &BTreeMap<String, Definition<T>>, show: impl Fn(&T) -> Json) -> Json {
    entries
        .iter()
        .map(|(name, entry)| (name.clone(), show_definition(entry, &show)))
        .collect::<Map<String, Json>>()
        .into()
}

fn addresses(addresses: Option<&[Url]>) -> Option<Vec<&str>> {
    addresses.map(|addresses| addresses.iter().map(Url::as_str).collect())
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
