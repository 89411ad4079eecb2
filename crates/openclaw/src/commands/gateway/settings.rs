//! Where the gateway listens, and what clients prove who they are with.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use openclaw_config::{
    Config, ConfigValue, Definition, Environment, Gateway, GatewayAuthMode, GatewayBind,
};
use openclaw_gateway::Credential;
use openclaw_process::Launcher;
use openclaw_secret_stores::{SecretResolver, Surroundings};
use openclaw_secrets::Secret;
use openclaw_state::StateDirectory;

use crate::cli::{BindWord, RunOptions};
use crate::commands::Session;
use crate::failure::Failure;

/// The variable with the port.
const PORT: &str = "OPENCLAW_GATEWAY_PORT";
/// The variable with the token, as the TypeScript `OpenClaw` has it.
const TOKEN: &str = "OPENCLAW_GATEWAY_TOKEN";
/// The variable with the password.
const PASSWORD: &str = "OPENCLAW_GATEWAY_PASSWORD";
/// How many characters a credential has at least that other machines can try.
const SHORTEST: usize = 8;

/// The settings of the gateway; those that can't be used are a failure with all reasons.
pub(super) fn settings(config: &Config) -> Result<Gateway, Failure> {
    match &config.gateway {
        Definition::Sound(gateway) => Ok(Gateway::clone(gateway)),
        Definition::Broken(reasons) => {
            let reasons = reasons
                .iter()
                .map(|it| format!("{}: {}", it.path(), it.message()));
            let reasons: Vec<String> = reasons.collect();
            Err(Failure::usage("config", reasons.join("\n"))
                .hint("`openclaw config validate` shows where"))
        }
    }
}

/// Where it listens.
pub(super) fn address(
    environment: &Environment,
    gateway: &Gateway,
    options: &RunOptions,
) -> Result<SocketAddr, Failure> {
    let bind = match options.bind {
        Some(BindWord::Loopback) => GatewayBind::Loopback,
        Some(BindWord::Lan) => GatewayBind::Lan,
        Some(BindWord::Custom) => GatewayBind::Custom,
        None => gateway.bind,
    };
    let host: IpAddr = match bind {
        GatewayBind::Loopback | GatewayBind::Auto => Ipv4Addr::LOCALHOST.into(),
        GatewayBind::Lan => Ipv4Addr::UNSPECIFIED.into(),
        GatewayBind::Custom => custom(gateway)?,
        GatewayBind::Tailnet => {
            let message = "`gateway.bind: \"tailnet\"` is not supported";
            return Err(Failure::usage("config", message).hint(
                "set `gateway.bind` to \"custom\", and `gateway.customBindHost` to the address that \
                 Tailscale gave this machine",
            ));
        }
    };
    if !host.is_loopback() && gateway.auth_mode == GatewayAuthMode::None {
        let message = "a gateway that other machines can reach needs `gateway.auth`: with `mode: \"none\"` \
             everybody could use its tools";
        return Err(Failure::usage("config", message)
            .hint("set `gateway.auth.mode` to \"token\", or `gateway.bind` to \"loopback\""));
    }
    let port = port(environment, options)?.unwrap_or(gateway.port);
    Ok(SocketAddr::new(host, port))
}

/// The port that the command line or a variable says, if one does.
pub(super) fn port(
    environment: &Environment,
    options: &RunOptions,
) -> Result<Option<u16>, Failure> {
    let text = environment.own_variable(PORT).map(str::trim);
    match (options.port, text.filter(|text| !text.is_empty())) {
        (Some(port), _) => Ok(Some(port)),
        (None, None) => Ok(None),
        (None, Some(text)) => text.parse().map(Some).map_err(|_| {
            let message = format!("{PORT} is not a port: {text:?}");
            Failure::usage("usage", message).hint("a port is a number up to 65535")
        }),
    }
}

fn custom(gateway: &Gateway) -> Result<IpAddr, Failure> {
    let Some(host) = &gateway.custom_host else {
        let message = "`gateway.bind: \"custom\"` needs `gateway.customBindHost`";
        return Err(Failure::usage("config", message));
    };
    host.parse().map_err(|_| {
        let message = format!("`gateway.customBindHost` is not an address in digits: {host:?}");
        Failure::usage("config", message)
    })
}

/// What clients prove who they are with. A token is made where none is given.
pub(super) async fn credential(
    session: &Session<'_>,
    config: &Config,
    gateway: &Gateway,
    state: &StateDirectory,
    launcher: &Arc<Launcher>,
    is_loopback: bool,
) -> Result<Credential, Failure> {
    let (name, variable, configured) = match gateway.auth_mode {
        GatewayAuthMode::None => {
            tracing::warn!(
                "`gateway.auth.mode` is \"none\": every user and program of this machine may call tools"
            );
            return Ok(Credential::Nothing);
        }
        GatewayAuthMode::Token => ("token", TOKEN, &gateway.token),
        GatewayAuthMode::Password => ("password", PASSWORD, &gateway.password),
    };
    // Not that of a `.env` file in the current directory, which may be anybody's.
    let set = config.environment.own_variable(variable);
    let given = match (set.filter(|it| !it.trim().is_empty()), configured) {
        (Some(text), _) => Secret::new(text.trim().to_owned()),
        (None, Some(value)) => resolved(session, config, launcher, value).await?,
        (None, None) if gateway.auth_mode == GatewayAuthMode::Password => {
            let message = "`gateway.auth.mode: \"password\"` needs `gateway.auth.password`";
            return Err(Failure::usage("config", message).hint(format!("or set {PASSWORD}")));
        }
        (None, None) => {
            let made = openclaw_gateway::token(state).map_err(|error| {
                Failure::failed("state", format!("no token for the gateway: {error}"))
            })?;
            return Ok(Credential::Token(made));
        }
    };
    // One that is too short or too common to be hidden is as good as it is.
    let _ = session.redactor.learn(&given);
    let least = if is_loopback { 1 } else { SHORTEST };
    if given.expose().chars().count() < least {
        let message = if is_loopback {
            format!("the {name} of the gateway is empty")
        } else {
            format!("a {name} that other machines can try needs at least {SHORTEST} characters")
        };
        return Err(Failure::usage("config", message));
    }
    Ok(match gateway.auth_mode {
        GatewayAuthMode::Password => Credential::Password(given),
        GatewayAuthMode::None | GatewayAuthMode::Token => Credential::Token(given),
    })
}

/// A value of the configuration, from its store if it lies in one.
async fn resolved(
    session: &Session<'_>,
    config: &Config,
    launcher: &Arc<Launcher>,
    value: &ConfigValue,
) -> Result<Secret, Failure> {
    let (prefix, reference) = match value {
        ConfigValue::Plain { value, .. } => return Ok(value.clone()),
        ConfigValue::Reference { prefix, secret } => (prefix, secret),
    };
    let resolver = SecretResolver::new(Surroundings {
        environment: Arc::clone(&config.environment),
        launcher: Arc::clone(launcher),
        redactor: session.redactor.clone(),
    });
    let references = std::slice::from_ref(reference);
    let mut answers = resolver.resolve(&config.secrets, references).await;
    match answers.pop() {
        Some(Ok(found)) => Ok(Secret::new(format!("{prefix}{}", found.value.expose()))),
        Some(Err(error)) => {
            let failure = Failure::failed("secret", error.to_string());
            Err(match error.hint_text() {
                Some(hint) => failure.hint(hint),
                None => failure,
            })
        }
        None => Err(Failure::failed("secret", "its store did not answer")),
    }
}
