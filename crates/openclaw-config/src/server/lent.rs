//! Servers that somebody lends to a session: they stand in no file, and what is said about them is taken as
//! it stands.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use openclaw_secrets::{Secret, SecretReference, is_secret_uri};
use thiserror::Error;

use crate::config::{ConfiguredServer, Definition};
use crate::place::Place;
use crate::raw::{ConfigValue, RawOAuth, RawServer, is_header_name, is_header_value};
use crate::server::address::{AddressError, Reach, parse_address};
use crate::server::remote::login;
use crate::server::validate::{changes_what_is_loaded, settled};
use crate::server::{
    Authorization, InheritedEnvironment, Launch, PlaceDefaults, ProtocolChoice, RemoteLaunch,
    RemoteTransport, ServerName, StdioLaunch, TlsSettings, ToolNaming,
};

/// How a server that is lent is started or reached. It may hold credentials and is not shown.
#[derive(Clone)]
pub enum LentLaunch {
    /// A program.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables for its environment.
        environment: Vec<(String, Secret)>,
        /// Where it is started, an absolute path.
        directory: Option<PathBuf>,
    },
    /// An address.
    Remote {
        /// Which of the two HTTP transports is tried first.
        transport: RemoteTransport,
        /// The address.
        url: String,
        /// Headers for every request.
        headers: Vec<(String, Secret)>,
    },
}

/// Why a server can't be lent.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LentError {
    /// There is no program.
    #[error("it has no command")]
    NoCommand,
    /// A text that no program can get.
    #[error("its command, arguments and variables must not contain a NUL character")]
    Nul,
    /// A directory that means another one elsewhere.
    #[error("its directory is not absolute")]
    Directory,
    /// A variable that can't be set.
    #[error("the name of a variable has at least one character, and no `=`")]
    VariableName,
    /// A header that can't be sent.
    #[error("it has a header that can't be sent")]
    Header,
    /// An address that can't be used.
    #[error("its address can't be used: {0}")]
    Address(String),
    /// Everybody in between could read along.
    #[error("`http://` is only for this machine, and {0} is another one")]
    Readable(String),
    /// A reference that is none.
    #[error("`{0}` refers to a secret in a way that can't be understood")]
    Reference(String),
}

impl From<AddressError> for LentError {
    fn from(error: AddressError) -> Self {
        Self::Address(error.to_string())
    }
}

impl LentLaunch {
    /// The names of variables that it does not get: those that decide what is loaded into its program.
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        let variables = match self {
            Self::Stdio { environment, .. } => environment.as_slice(),
            Self::Remote { .. } => &[],
        };
        let names = variables.iter().map(|(name, _)| name.as_str());
        names.filter(|name| changes_what_is_loaded(name))
    }
}

/// A server under the name that it has in its session.
pub fn lent_server(name: ServerName, launch: LentLaunch) -> Result<ConfiguredServer, LentError> {
    let launch = match launch {
        LentLaunch::Stdio {
            command,
            args,
            environment,
            directory,
        } => Launch::Stdio(program(command, args, environment, directory)?),
        LentLaunch::Remote {
            transport,
            url,
            headers,
        } => Launch::Remote(remote(transport, &url, headers)?),
    };
    let address = match &launch {
        Launch::Stdio(_) => None,
        Launch::Remote(launch) => Some(launch.url.clone()),
    };
    let defaults = PlaceDefaults {
        connection_timeout: Duration::from_secs(30),
        request_timeout: Duration::from_mins(1),
        naming: ToolNaming::Prefixed,
        discovery_interval: None,
    };
    let place = Place::Session;
    let server = settled(&name, launch, &place, &RawServer::default(), &defaults);
    Ok(ConfiguredServer {
        name,
        enabled: true,
        place,
        address,
        definition: Definition::Sound(Arc::new(server)),
    })
}

fn program(
    command: String,
    args: Vec<String>,
    environment: Vec<(String, Secret)>,
    directory: Option<PathBuf>,
) -> Result<StdioLaunch, LentError> {
    if command.trim().is_empty() {
        return Err(LentError::NoCommand);
    }
    if directory.as_ref().is_some_and(|it| !it.is_absolute()) {
        return Err(LentError::Directory);
    }
    let mut texts = std::iter::once(&command).chain(&args);
    if texts.any(|text| text.contains('\0')) {
        return Err(LentError::Nul);
    }
    let mut variables = BTreeMap::new();
    for (name, value) in environment {
        if name.is_empty() || name.contains('=') {
            return Err(LentError::VariableName);
        }
        if name.contains('\0') || value.expose().contains('\0') {
            return Err(LentError::Nul);
        }
        if !changes_what_is_loaded(&name) {
            let value = taken(&name, value)?;
            variables.insert(name, value);
        }
    }
    Ok(StdioLaunch {
        command,
        args,
        environment: variables,
        inherited: InheritedEnvironment::Nothing,
        directory,
        protocol: ProtocolChoice::Auto,
        roots: None,
    })
}

fn remote(
    transport: RemoteTransport,
    url: &str,
    headers: Vec<(String, Secret)>,
) -> Result<RemoteLaunch, LentError> {
    let (url, reach) = parse_address(url)?;
    if matches!(reach, Reach::Readable | Reach::Disguised) {
        let host = url.host_str().unwrap_or_default();
        return Err(LentError::Readable(host.to_owned()));
    }
    let mut sent = BTreeMap::new();
    for (name, value) in headers {
        let value = taken(&name, value)?;
        if !is_header_name(&name) || !is_header_value(&value) {
            return Err(LentError::Header);
        }
        sent.insert(name.to_ascii_lowercase(), value);
    }
    let authorization = match sent.remove("authorization") {
        Some(header) => Authorization::Header(header),
        None => Authorization::OAuth(Box::new(login(&RawOAuth::default(), false))),
    };
    Ok(RemoteLaunch {
        transport,
        url,
        headers: sent,
        authorization,
        tls: TlsSettings {
            verify: true,
            authorities: None,
            identity: None,
        },
        protocol: ProtocolChoice::Auto,
        roots: None,
    })
}

/// A value as it stands, or where it is.
fn taken(name: &str, value: Secret) -> Result<ConfigValue, LentError> {
    if !is_secret_uri(value.expose()) {
        return Ok(ConfigValue::Plain {
            value,
            variables: Vec::new(),
            written: Secret::new(""),
        });
    }
    match value.expose().parse::<SecretReference>() {
        Ok(secret) => Ok(ConfigValue::Reference {
            prefix: String::new(),
            secret,
        }),
        Err(_) => Err(LentError::Reference(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(values: &[(&str, &str)]) -> Vec<(String, Secret)> {
        let values = values.iter();
        values
            .map(|(name, value)| ((*name).to_owned(), Secret::new(*value)))
            .collect()
    }

    fn lend(launch: LentLaunch) -> Result<ConfiguredServer, LentError> {
        lent_server(ServerName::new("mine").unwrap(), launch)
    }

    fn stdio(command: &str, environment: &[(&str, &str)], directory: &str) -> LentLaunch {
        LentLaunch::Stdio {
            command: command.to_owned(),
            args: vec!["$HOME".to_owned()],
            environment: named(environment),
            directory: Some(PathBuf::from(directory)),
        }
    }

    fn http(url: &str, headers: &[(&str, &str)]) -> LentLaunch {
        LentLaunch::Remote {
            transport: RemoteTransport::Http,
            url: url.to_owned(),
            headers: named(headers),
        }
    }

    #[test]
    fn values_are_taken_as_they_stand_unless_they_are_references() {
        let values = [
            ("A", "$HOME"),
            ("B", "${HOME}"),
            ("C", "secret://keyring/github/me"),
            ("LD_PRELOAD", "/tmp/evil.so"),
        ];
        let lent = lend(stdio("server", &values, "/project")).unwrap();
        let Launch::Stdio(launch) = &lent.definition.sound().unwrap().launch else {
            panic!("a program");
        };
        let plain = |name: &str| match &launch.environment[name] {
            ConfigValue::Plain { value, .. } => value.expose().to_owned(),
            ConfigValue::Reference { .. } => "a reference".to_owned(),
        };
        assert_eq!(
            (plain("A"), plain("B"), plain("C")),
            ("$HOME".into(), "${HOME}".into(), "a reference".into())
        );
        assert!(!launch.environment.contains_key("LD_PRELOAD"));
        assert_eq!(launch.args, ["$HOME"]);
        assert_eq!(lent.place, Place::Session);
    }

    #[test]
    fn what_can_not_be_started_or_reached_is_refused() {
        for (launch, expected) in [
            (stdio(" ", &[], "/"), LentError::NoCommand),
            (stdio("a\0b", &[], "/"), LentError::Nul),
            (stdio("a", &[("X", "\0")], "/"), LentError::Nul),
            (stdio("a", &[("", "x")], "/"), LentError::VariableName),
            (stdio("a", &[("A=B", "x")], "/"), LentError::VariableName),
            (stdio("a", &[], "here"), LentError::Directory),
            (
                stdio("a", &[("KEY", "secret://nothing")], "/"),
                LentError::Reference("KEY".to_owned()),
            ),
            (
                http("http://mcp.example/", &[]),
                LentError::Readable("mcp.example".to_owned()),
            ),
            (
                http("http://localhost/", &[("a b", "x")]),
                LentError::Header,
            ),
            (
                http("http://localhost/", &[("a", "x\ny")]),
                LentError::Header,
            ),
        ] {
            assert_eq!(lend(launch).unwrap_err(), expected);
        }
        let error = lend(http("ftp://mcp.example", &[])).unwrap_err();
        assert!(matches!(error, LentError::Address(_)));
    }

    #[test]
    fn a_header_that_proves_who_we_are_takes_the_place_of_a_login() {
        let of = |headers: &[(&str, &str)]| {
            let lent = lend(http("https://mcp.example/mcp", headers)).unwrap();
            let server = Arc::clone(lent.definition.sound().unwrap());
            let Launch::Remote(launch) = &server.launch else {
                panic!("an address");
            };
            let credentials = server.credentials().len();
            (launch.authorization.clone(), credentials)
        };
        assert!(matches!(of(&[]), (Authorization::OAuth(_), 0)));
        let (proof, credentials) = of(&[("AUTHORIZATION", "Bearer hunter2hunter2")]);
        assert!(matches!(proof, Authorization::Header(_)));
        assert_eq!(credentials, 1);
    }
}
