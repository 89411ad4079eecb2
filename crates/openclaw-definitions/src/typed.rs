//! The definition of a new server, from what somebody typed.

use std::fmt;
use std::str::FromStr;

use openclaw_config::ServerName;
use openclaw_engine::{EngineFailure, ServerEntry};
use openclaw_secrets::SecretReference;
use serde_json::{Map, Value as Json, json};
use url::Url;

use crate::failure::usage;
use crate::{naming, words};

/// What somebody typed to connect a server, on a command line or behind a slash. It may hold
/// credentials and is not shown.
#[derive(Clone, Default)]
pub struct Typed {
    /// The address of a server, or the name of a configured one; with a program, the name to give.
    pub target: Option<String>,
    /// The program of a server, with its arguments: what stood behind `--`.
    pub program: Vec<String>,
    /// The name to give, where the target is none.
    pub name: Option<String>,
    /// Headers, as `NAME=VALUE` or `NAME: VALUE`.
    pub headers: Vec<String>,
    /// Variables of the program, as `NAME=VALUE`.
    pub variables: Vec<String>,
    /// How to speak to the server.
    pub transport: Option<TransportWord>,
    /// Whether it is written without being tried.
    pub no_check: bool,
    /// Whether it may replace one of the same name.
    pub force: bool,
    /// Whether credentials are written as they are.
    pub no_keyring: bool,
    /// An address, as the TypeScript OpenClaw takes it.
    pub url: Option<String>,
    /// A program, as the TypeScript OpenClaw takes it.
    pub command: Option<String>,
    /// The arguments of that program.
    pub arguments: Vec<String>,
}

impl fmt::Debug for Typed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Typed")
    }
}

/// How to speak to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportWord {
    /// Over the standard streams of a program.
    Stdio,
    /// Over Streamable HTTP.
    Http,
    /// Over HTTP with server-sent events.
    Sse,
}

impl TransportWord {
    /// The word in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

impl FromStr for TransportWord {
    type Err = EngineFailure;

    fn from_str(text: &str) -> Result<Self, EngineFailure> {
        match text {
            "stdio" => Ok(Self::Stdio),
            "http" | "streamable-http" => Ok(Self::Http),
            "sse" => Ok(Self::Sse),
            _ => Err(usage("`--transport` is one of: stdio, http, sse")),
        }
    }
}

/// What is to be connected.
#[derive(Debug)]
pub enum Wanted {
    /// A server that the configuration has.
    Configured(String),
    /// One that it is to have.
    New(NewServer),
}

/// A server that is to be written to the configuration.
#[derive(Clone, Debug)]
pub struct NewServer {
    /// Its name.
    pub name: ServerName,
    /// Its definition, as it will stand in the file.
    pub entry: ServerEntry,
}

/// How a new server is started or reached.
enum Origin<'o> {
    Address(&'o str),
    Program(&'o str, &'o [String]),
}

/// Reads what is to be connected.
///
/// Messages name options and never repeat values: those may be credentials.
pub fn wanted(typed: &Typed) -> Result<Wanted, EngineFailure> {
    let target = typed.target.as_deref();
    let is_address = target.is_some_and(|target| target.contains("://"));
    let (origin, name) = match (&typed.program[..], &typed.command, &typed.url) {
        ([program, arguments @ ..], _, _) => (Origin::Program(program, arguments), target),
        ([], Some(program), _) => (Origin::Program(program, &typed.arguments), target),
        ([], None, Some(url)) => (Origin::Address(url), target),
        ([], None, None) => match target {
            Some(address) if is_address => (Origin::Address(address), None),
            Some(name) => return configured(name, typed),
            None => return Err(usage("there is nothing to connect")),
        },
    };
    if is_address && name.is_some() {
        return Err(usage("give an address or a program, not both"));
    }
    let name = match (typed.name.as_deref(), name) {
        (Some(_), Some(_)) => {
            return Err(usage("the name is given twice: leave out `--name`"));
        }
        (Some(name), None) | (None, Some(name)) => name.to_owned(),
        (None, None) => match &origin {
            Origin::Address(address) => naming::of_address(&parse(address)?),
            Origin::Program(program, arguments) => naming::of_program(program, arguments),
        },
    };
    Ok(Wanted::New(NewServer {
        name: server_name(&name)?,
        entry: ServerEntry(entry(&origin, typed)?),
    }))
}

/// A text as the name of a server.
pub fn server_name(text: &str) -> Result<ServerName, EngineFailure> {
    ServerName::new(text).map_err(|error| {
        usage(format!(
            "{} {error}",
            json!(openclaw_content::shown_line(text, 80))
        ))
    })
}

fn configured(name: &str, typed: &Typed) -> Result<Wanted, EngineFailure> {
    let for_new_ones = typed.name.is_some()
        || typed.transport.is_some()
        || !typed.headers.is_empty()
        || !typed.variables.is_empty()
        || typed.no_check
        || typed.no_keyring
        || typed.force;
    if for_new_ones {
        return Err(usage("there is nothing to add").hint(
            "give an address that begins with `https://`, or `-- COMMAND ARGUMENTS`; a name alone \
             connects a configured server again",
        ));
    }
    Ok(Wanted::Configured(name.to_owned()))
}

fn entry(origin: &Origin<'_>, typed: &Typed) -> Result<Map<String, Json>, EngineFailure> {
    let headers = with_prefixes(words::headers(&typed.headers)?);
    let variables = with_prefixes(words::variables(&typed.variables)?);
    let mut entry = Map::new();
    match origin {
        Origin::Address(address) => {
            if !variables.is_empty() {
                return Err(usage("`--env` is for programs: use `--header`"));
            }
            if typed.transport == Some(TransportWord::Stdio) {
                return Err(usage("an address is not reached over stdio"));
            }
            entry.insert("url".to_owned(), json!(address));
            add_unless_empty(&mut entry, "headers", headers);
        }
        Origin::Program(program, arguments) => {
            if !headers.is_empty() {
                return Err(usage("`--header` is for addresses: use `--env`"));
            }
            if !matches!(typed.transport, None | Some(TransportWord::Stdio)) {
                return Err(usage("a program is reached over stdio"));
            }
            entry.insert("command".to_owned(), json!(program));
            if !arguments.is_empty() {
                entry.insert("args".to_owned(), json!(arguments));
            }
            add_unless_empty(&mut entry, "env", variables);
        }
    }
    if let Some(transport) = typed.transport {
        entry.insert("transport".to_owned(), json!(transport.as_str()));
    }
    Ok(entry)
}

/// Writes `Bearer secret://…` in the form that a reference behind other text has.
fn with_prefixes(mut values: Map<String, Json>) -> Map<String, Json> {
    for value in values.values_mut() {
        let Some(text) = value.as_str() else { continue };
        let Some(at) = text.to_ascii_lowercase().find("secret://") else {
            continue;
        };
        let (prefix, reference) = text.split_at(at);
        if !prefix.is_empty() && reference.parse::<SecretReference>().is_ok() {
            *value = json!({ "prefix": prefix, "secret": reference });
        }
    }
    values
}

fn add_unless_empty(entry: &mut Map<String, Json>, key: &str, values: Map<String, Json>) {
    if !values.is_empty() {
        entry.insert(key.to_owned(), Json::Object(values));
    }
}

fn parse(address: &str) -> Result<Url, EngineFailure> {
    // The address itself is not repeated: it may hold a password.
    Url::parse(address).map_err(|error| usage(format!("the address is not valid: {error}")))
}

#[cfg(test)]
mod tests;
