//! The resolved configuration as JSON that can be shown to anybody.

use std::collections::BTreeMap;
use std::time::Duration;

use openclaw_secrets::Redactor;
use serde_json::{Map, Value as Json, json};

use crate::config::{Agent, Config, ConfiguredServer, Definition, ModelProvider, SecretProvider};
use crate::credentials::{arguments, credential, plain, values};
use crate::server::{
    Authorization, InheritedEnvironment, Launch, OAuthSettings, RemoteLaunch, RemoteTransport,
    Restart, Server, ServerScope, StdioLaunch,
};

impl Config {
    /// The configuration in the shape of the file, defaults filled in, for one agent's eyes:
    /// `mcp.servers` are that agent's. Whatever is or looks like a credential reads `[REDACTED]`.
    pub fn show(&self, agent: &Agent) -> Json {
        let redactor = Redactor::new();
        let mut mcp = Map::new();
        mcp.insert("servers".to_owned(), servers(agent, &redactor));
        mcp.insert(
            "maxConcurrentServers".to_owned(),
            json!(self.server_limits.others),
        );
        mcp.insert("debug".to_owned(), json!(self.debug));
        let entries: Map<String, Json> = self
            .agents
            .values()
            .map(|entry| {
                let mut shown = show_agent(entry);
                shown.insert("default".to_owned(), json!(entry.id == self.default_agent));
                if entry.id != agent.id {
                    shown.insert(
                        "mcp".to_owned(),
                        json!({ "servers": servers(entry, &redactor) }),
                    );
                }
                (entry.id.to_string(), Json::Object(shown))
            })
            .collect();
        let mut shown = json!({
            "agent": agent.id.as_str(),
            "mcp": mcp,
            "agents": { "entries": entries },
            "models": { "providers": show_all(&self.model_providers, |provider| model_provider(provider, &redactor)) },
            "secrets": { "providers": show_all(&self.secret_providers, secret_provider) },
            "gateway": {
                "port": self.gateway.port,
                "auth": {
                    "mode": self.gateway.auth_mode.as_str(),
                    "token": self.gateway.token.as_ref().map(credential),
                    "password": self.gateway.password.as_ref().map(credential),
                },
                "publicUrl": self.gateway.public_url.as_ref().map(|url| redactor.redact(url.as_str()).into_owned()),
            },
        });
        drop_nothings(&mut shown);
        shown
    }
}

/// Leaves out what is not set.
fn drop_nothings(value: &mut Json) {
    match value {
        Json::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(drop_nothings);
        }
        Json::Array(elements) => elements.iter_mut().for_each(drop_nothings),
        _ => {}
    }
}

fn servers(agent: &Agent, redactor: &Redactor) -> Json {
    let servers: Map<String, Json> = agent
        .servers
        .iter()
        .map(|(name, configured)| (name.to_string(), show_server(configured, redactor)))
        .collect();
    Json::Object(servers)
}

fn show_agent(agent: &Agent) -> Map<String, Json> {
    let shown = json!({
        "model": agent.model.as_ref().map(|model| json!({
            "primary": model.primary,
            "fallbacks": model.fallbacks,
        })),
        "workspace": agent.workspace,
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
    });
    match shown {
        Json::Object(shown) => shown,
        _ => Map::new(),
    }
}

fn show_server(configured: &ConfiguredServer, redactor: &Redactor) -> Json {
    let mut shown = Map::new();
    shown.insert("enabled".to_owned(), json!(configured.enabled));
    match &configured.definition {
        Definition::Broken(reasons) => {
            shown.insert("problems".to_owned(), json!(reasons));
        }
        Definition::Sound(server) => {
            match &server.launch {
                Launch::Stdio(launch) => stdio(launch, redactor, &mut shown),
                Launch::Remote(launch) => remote(launch, redactor, &mut shown),
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
        "trustAnnotations": server.trust_annotations,
        "pin": server.pin.as_str(),
        "maxResultBytes": server.max_result_bytes,
        "toolDiscoveryInterval": server.discovery_interval.map_or(0, milliseconds),
    });
    if let Json::Object(settings) = settings {
        shown.extend(settings);
    }
}

fn stdio(launch: &StdioLaunch, redactor: &Redactor, shown: &mut Map<String, Json>) {
    shown.insert("transport".to_owned(), json!("stdio"));
    shown.insert(
        "command".to_owned(),
        json!(redactor.redact(&launch.command)),
    );
    shown.insert("args".to_owned(), arguments(&launch.args, redactor));
    shown.insert("env".to_owned(), values(&launch.environment));
    let inherited = match &launch.inherited {
        InheritedEnvironment::Nothing => json!(false),
        InheritedEnvironment::All => json!(true),
        InheritedEnvironment::Names(names) => json!(names),
    };
    shown.insert("inheritEnv".to_owned(), inherited);
    shown.insert("cwd".to_owned(), json!(launch.directory));
    shown.insert("protocol".to_owned(), json!(launch.protocol.as_str()));
    shown.insert("roots".to_owned(), json!(launch.roots));
}

fn remote(launch: &RemoteLaunch, redactor: &Redactor, shown: &mut Map<String, Json>) {
    let transport = match launch.transport {
        RemoteTransport::Http => "http",
        RemoteTransport::Sse => "sse",
    };
    shown.insert("transport".to_owned(), json!(transport));
    shown.insert(
        "url".to_owned(),
        json!(redactor.redact(launch.url.as_str())),
    );
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
    shown.insert("headers".to_owned(), values(&headers));
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
    shown.insert("roots".to_owned(), json!(launch.roots));
}

fn oauth(settings: &OAuthSettings) -> Json {
    let address = |url: &Option<url::Url>| url.as_ref().map(|url| url.as_str().to_owned());
    json!({
        "clientId": settings.client_id,
        "clientSecret": settings.client_secret.as_ref().map(credential),
        "authorizationServerUrl": address(&settings.authorization_server),
        "scopes": settings.scopes,
        "redirectUrl": address(&settings.redirect_url),
        "clientMetadataUrl": address(&settings.client_metadata_url),
        "callbackHost": settings.callback_host.as_str(),
        "callbackPort": settings.callback_port.unwrap_or(0),
        "callbackPath": settings.callback_path,
    })
}

fn model_provider(provider: &ModelProvider, redactor: &Redactor) -> Json {
    json!({
        "baseUrl": provider.base_url.as_ref().map(|url| redactor.redact(url.as_str()).into_owned()),
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

fn secret_provider(provider: &SecretProvider) -> Json {
    match provider {
        SecretProvider::Environment { allowlist } => {
            json!({ "source": "env", "allowlist": allowlist })
        }
        SecretProvider::File { path, mode } => {
            json!({ "source": "file", "path": path, "mode": mode.as_str() })
        }
        SecretProvider::Exec {
            command,
            args,
            environment,
            pass_environment,
            timeout,
            max_output_bytes,
        } => {
            let environment: Map<String, Json> = environment
                .iter()
                .map(|(name, value)| (name.clone(), json!(plain(name, value, &[]))))
                .collect();
            json!({
                "source": "exec",
                "command": command,
                "args": arguments(args, &Redactor::new()),
                "env": environment,
                "passEnv": pass_environment,
                "timeoutMs": milliseconds(*timeout),
                "maxOutputBytes": max_output_bytes,
            })
        }
    }
}

fn show_all<T>(entries: &BTreeMap<String, T>, show: impl Fn(&T) -> Json) -> Json {
    entries
        .iter()
        .map(|(name, entry)| (name.clone(), show(entry)))
        .collect::<Map<String, Json>>()
        .into()
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
