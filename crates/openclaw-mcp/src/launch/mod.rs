//! From a definition of the configuration to something that can be connected to.

use std::path::PathBuf;
use std::sync::Arc;

use openclaw_config::{
    Authorization, ConfigValue, Fingerprint, InheritedEnvironment, Launch, ProtocolChoice,
    RemoteLaunch, RemoteTransport, Server, StdioLaunch,
};
use openclaw_mcp_client::{
    AddressTarget, ClientIdentity, Endpoint, FirstTransport, ProgramTarget, Protocol, Target,
    Timeouts, TlsSettings,
};
use openclaw_process::Inherited;
use openclaw_secrets::Secret;

use crate::supervise::{PendingTarget, TargetSource, Unresolved};

/// A server of the configuration, made into a target anew for every start.
pub(crate) struct ConfiguredTarget {
    pub(crate) server: Arc<Server>,
    pub(crate) fingerprint: Fingerprint,
}

impl TargetSource for ConfiguredTarget {
    fn target(&self) -> PendingTarget<'_> {
        Box::pin(async { self.make() })
    }
}

impl ConfiguredTarget {
    fn make(&self) -> Result<Target, Unresolved> {
        let server = &*self.server;
        let (endpoint, protocol, roots) = match &server.launch {
            Launch::Stdio(launch) => (program(launch)?, launch.protocol, &launch.roots),
            Launch::Remote(launch) => (address(launch)?, launch.protocol, &launch.roots),
        };
        Ok(Target {
            name: server.name.as_str().to_owned(),
            fingerprint: Some(self.fingerprint.to_string()),
            endpoint,
            protocol: match protocol {
                ProtocolChoice::Auto => Protocol::Auto,
                ProtocolChoice::Legacy => Protocol::Legacy,
                ProtocolChoice::Modern => Protocol::Modern,
            },
            timeouts: Timeouts {
                connection: server.timeouts.connection,
                request: server.timeouts.request,
                total: server.timeouts.total,
            },
            parallel_calls: server.parallel_calls,
            roots: roots.clone(),
        })
    }
}

fn program(launch: &StdioLaunch) -> Result<Endpoint, Unresolved> {
    let environment = launch.environment.iter();
    let environment = environment
        .map(|(name, value)| Ok((name.clone(), resolved(&format!("env.{name}"), value)?)));
    Ok(Endpoint::Program(ProgramTarget {
        command: launch.command.clone(),
        arguments: launch.args.clone(),
        environment: environment.collect::<Result<_, _>>()?,
        inherited: match &launch.inherited {
            InheritedEnvironment::Nothing => Inherited::Nothing,
            InheritedEnvironment::All => Inherited::All,
            InheritedEnvironment::Names(names) => Inherited::Names(names.clone()),
        },
        directory: launch.directory.clone(),
    }))
}

fn address(launch: &RemoteLaunch) -> Result<Endpoint, Unresolved> {
    let headers = launch.headers.iter();
    let headers = headers
        .map(|(name, value)| Ok((name.clone(), resolved(&format!("headers.{name}"), value)?)))
        .collect::<Result<_, _>>()?;
    let authorization = match &launch.authorization {
        Authorization::Header(value) => Some(resolved("headers.authorization", value)?),
        Authorization::ApiKey(value) => {
            let key = resolved("apiKey", value)?;
            Some(Secret::new(format!("Bearer {}", key.expose())))
        }
        Authorization::OAuth(_) => None,
    };
    let path = |path: &Option<PathBuf>| path.clone();
    Ok(Endpoint::Address(Box::new(AddressTarget {
        url: launch.url.clone(),
        first: match launch.transport {
            RemoteTransport::Http => FirstTransport::Streamable,
            RemoteTransport::Sse => FirstTransport::Events,
        },
        headers,
        authorization,
        tls: TlsSettings {
            verify: launch.tls.verify,
            authorities: path(&launch.tls.authorities),
            identity: launch.tls.identity.as_ref().map(|identity| ClientIdentity {
                certificate: identity.certificate.clone(),
                key: path(&identity.key),
            }),
        },
    })))
}

/// The value of a field, which is not to be seen again.
fn resolved(field: &str, value: &ConfigValue) -> Result<Secret, Unresolved> {
    match value {
        ConfigValue::Plain { value, .. } => Ok(value.clone()),
        ConfigValue::Reference { secret, .. } => Err(Unresolved(format!(
            "`{field}` refers to the secret `{secret}`, which this version can't read"
        ))),
    }
}
