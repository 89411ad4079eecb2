//! From a definition of the configuration to something that can be connected to.

mod secrets;

use std::path::PathBuf;
use std::sync::Arc;

use openclaw_config::{
    Authorization, Fingerprint, InheritedEnvironment, Launch, ProtocolChoice, RemoteLaunch,
    RemoteTransport, Server, StdioLaunch,
};
use openclaw_mcp_client::{
    AddressTarget, Authorization as Shown, ClientIdentity, Endpoint, FirstTransport, ProgramTarget,
    Protocol, Target, Timeouts, TlsSettings,
};
use openclaw_process::Inherited;
use openclaw_secrets::Secret;

use self::secrets::Secrets;
pub(crate) use self::secrets::{CurrentResolver, SecretSource};
use crate::logins::ServerLogin;
use crate::supervise::{LoginWatch, PendingTarget, TargetSource, Unresolved};

/// A server of the configuration, made into a target anew for every start.
pub(crate) struct ConfiguredTarget {
    pub(crate) server: Arc<Server>,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) secrets: SecretSource,
    /// The login to it, if it is one that may ask for one.
    pub(crate) login: Option<Arc<ServerLogin>>,
}

impl TargetSource for ConfiguredTarget {
    fn target(&self) -> PendingTarget<'_> {
        Box::pin(self.make())
    }

    fn login(&self) -> Option<Arc<dyn LoginWatch>> {
        let login = self.login.clone()?;
        Some(login)
    }
}

impl ConfiguredTarget {
    async fn make(&self) -> Result<Target, Unresolved> {
        let server = &*self.server;
        let secrets = self.secrets.of(server).await?;
        let (endpoint, protocol, roots) = match &server.launch {
            Launch::Stdio(launch) => (program(launch, &secrets)?, launch.protocol, &launch.roots),
            Launch::Remote(launch) => (
                self.address(launch, &secrets)?,
                launch.protocol,
                &launch.roots,
            ),
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

fn program(launch: &StdioLaunch, secrets: &Secrets) -> Result<Endpoint, Unresolved> {
    let environment = launch.environment.iter();
    let environment = environment
        .map(|(name, value)| Ok((name.clone(), secrets.value(&format!("env.{name}"), value)?)));
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

impl ConfiguredTarget {
    fn address(&self, launch: &RemoteLaunch, secrets: &Secrets) -> Result<Endpoint, Unresolved> {
        let headers = launch.headers.iter();
        let headers = headers
            .map(|(name, value)| {
                Ok((
                    name.clone(),
                    secrets.header(&format!("headers.{name}"), value)?,
                ))
            })
            .collect::<Result<_, _>>()?;
        let authorization = match &launch.authorization {
            Authorization::Header(value) => {
                Shown::Fixed(secrets.header("headers.authorization", value)?)
            }
            Authorization::ApiKey(value) => {
                let key = secrets.header("apiKey", value)?;
                Shown::Fixed(Secret::new(format!("Bearer {}", key.expose())))
            }
            Authorization::OAuth(_) => match &self.login {
                Some(login) => Shown::Asked(login.clone()),
                None => Shown::None,
            },
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
}
