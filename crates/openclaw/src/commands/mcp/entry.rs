//! The definition of a new server, from the command line.

use openclaw_config::ServerName;
use openclaw_secrets::SecretReference;
use serde_json::{Map, Value as Json, json};
use url::Url;

use crate::cli::{ConnectOptions, TransportWord};
use crate::commands::mcp::{naming, words};
use crate::failure::Failure;

/// What is to be connected.
#[derive(Debug)]
pub(super) enum Wanted {
    /// A server that the configuration has.
    Configured(String),
    /// One that it is to have.
    New(NewServer),
}

/// A server that is to be written to the configuration.
#[derive(Debug)]
pub(super) struct NewServer {
    pub(super) name: ServerName,
    /// Its definition, as it will stand in the file.
    pub(super) entry: Map<String, Json>,
}

/// How a new server is started or reached.
enum Origin<'o> {
    Address(&'o str),
    Program(&'o str, &'o [String]),
}

/// Reads what is to be connected.
pub(super) fn wanted(options: &ConnectOptions) -> Result<Wanted, Failure> {
    let target = options.target.as_deref();
    let is_address = target.is_some_and(|target| target.contains("://"));
    let (origin, name) = match (&options.program[..], &options.command, &options.url) {
        ([program, arguments @ ..], _, _) => (Origin::Program(program, arguments), target),
        ([], Some(program), _) => (Origin::Program(program, &options.arguments), target),
        ([], None, Some(url)) => (Origin::Address(url), target),
        ([], None, None) => match target {
            Some(address) if is_address => (Origin::Address(address), None),
            Some(name) => return configured(name, options),
            None => return Err(usage("there is nothing to connect")),
        },
    };
    if is_address && name.is_some() {
        return Err(usage("give an address or a program, not both"));
    }
    let name = match (options.name.as_deref(), name) {
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
        entry: entry(&origin, options)?,
    }))
}

/// A text as the name of a server.
pub(super) fn server_name(text: &str) -> Result<ServerName, Failure> {
    ServerName::new(text).map_err(|error| {
        usage(&format!(
            "{} {error}",
            json!(openclaw_content::shown_line(text, 80))
        ))
    })
}

fn configured(name: &str, options: &ConnectOptions) -> Result<Wanted, Failure> {
    let for_new_ones = options.name.is_some()
        || options.transport.is_some()
        || !options.headers.is_empty()
        || !options.variables.is_empty()
        || options.no_check
        || options.no_keyring
        || options.force;
    if for_new_ones {
        return Err(usage("there is nothing to add").hint(
            "give an address that begins with `https://`, or `-- COMMAND ARGUMENTS`; a name alone \
             connects a configured server again",
        ));
    }
    Ok(Wanted::Configured(name.to_owned()))
}

fn entry(origin: &Origin<'_>, options: &ConnectOptions) -> Result<Map<String, Json>, Failure> {
    let headers = with_prefixes(words::headers(&options.headers)?);
    let variables = with_prefixes(words::variables(&options.variables)?);
    let mut entry = Map::new();
    match origin {
        Origin::Address(address) => {
            if !variables.is_empty() {
                return Err(usage("`--env` is for programs: use `--header`"));
            }
            if options.transport == Some(TransportWord::Stdio) {
                return Err(usage("an address is not reached over stdio"));
            }
            entry.insert("url".to_owned(), json!(address));
            add_unless_empty(&mut entry, "headers", headers);
        }
        Origin::Program(program, arguments) => {
            if !headers.is_empty() {
                return Err(usage("`--header` is for addresses: use `--env`"));
            }
            if !matches!(options.transport, None | Some(TransportWord::Stdio)) {
                return Err(usage("a program is reached over stdio"));
            }
            entry.insert("command".to_owned(), json!(program));
            if !arguments.is_empty() {
                entry.insert("args".to_owned(), json!(arguments));
            }
            add_unless_empty(&mut entry, "env", variables);
        }
    }
    if let Some(transport) = options.transport {
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

fn parse(address: &str) -> Result<Url, Failure> {
    // The address itself is not repeated: it may hold a password.
    Url::parse(address).map_err(|error| usage(&format!("the address is not valid: {error}")))
}

fn usage(message: &str) -> Failure {
    Failure::usage("usage", message)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command, McpCommand};

    fn read(arguments: &[&str]) -> Result<Wanted, String> {
        let arguments = ["openclaw", "mcp", "connect"].iter().chain(arguments);
        let Command::Mcp(options) = Cli::try_parse_from(arguments).unwrap().command else {
            panic!("another command");
        };
        let McpCommand::Connect(options) = options.command else {
            panic!("another command");
        };
        wanted(&options).map_err(|failure| match failure {
            Failure::Told(told) => told.message,
            other => panic!("{other:?}"),
        })
    }

    fn new(arguments: &[&str]) -> (String, Json) {
        match read(arguments).unwrap() {
            Wanted::New(server) => (server.name.to_string(), Json::Object(server.entry)),
            Wanted::Configured(name) => panic!("{name}"),
        }
    }

    #[test]
    fn an_address_becomes_an_entry() {
        let (name, entry) = new(&["https://mcp.tavily.com/mcp", "-H", "X-Key=${TAVILY}"]);
        assert_eq!(name, "tavily");
        let expected = json!({
            "url": "https://mcp.tavily.com/mcp",
            "headers": { "X-Key": "${TAVILY}" },
        });
        assert_eq!(entry, expected);
        let (name, entry) = new(&["https://x.example", "--name", "y", "--transport", "sse"]);
        assert_eq!(name, "y");
        assert_eq!(
            entry,
            json!({ "url": "https://x.example", "transport": "sse" })
        );
    }

    #[test]
    fn a_reference_behind_a_scheme_is_written_in_its_own_form() {
        let header = |text: &str| {
            let (_, entry) = new(&["https://x.example", "-H", text]);
            entry["headers"]["Authorization"].clone()
        };
        assert_eq!(
            header("Authorization=Bearer secret://env/X"),
            json!({ "prefix": "Bearer ", "secret": "secret://env/X" })
        );
        assert_eq!(
            header("Authorization: Token SECRET://env/X"),
            json!({ "prefix": "Token ", "secret": "SECRET://env/X" })
        );
        // For the configuration to complain about, or to understand.
        for text in ["secret://env/X", "Bearer secret://nowhere"] {
            assert_eq!(header(&format!("Authorization={text}")), text);
        }
    }

    #[test]
    fn a_program_becomes_an_entry() {
        let line = [
            "-e",
            "A=1",
            "--",
            "npx",
            "-y",
            "@modelcontextprotocol/server-everything",
        ];
        let (name, entry) = new(&line);
        assert_eq!(name, "everything");
        let expected = json!({
            "command": "npx",
            "args": ["-y", "@modelcontextprotocol/server-everything"],
            "env": { "A": "1" },
        });
        assert_eq!(entry, expected);
        let (name, entry) = new(&["mine", "--", "prog"]);
        assert_eq!(
            (name.as_str(), entry),
            ("mine", json!({ "command": "prog" }))
        );
    }

    #[test]
    fn the_other_openclaw_s_way_of_saying_it_is_understood() {
        let (name, entry) = new(&["docs", "--command", "npx", "--arg", "-y", "--arg", "x"]);
        assert_eq!(name, "docs");
        assert_eq!(entry, json!({ "command": "npx", "args": ["-y", "x"] }));
        let line = [
            "docs",
            "--url",
            "https://x.example",
            "--transport",
            "streamable-http",
        ];
        let (name, entry) = new(&line);
        assert_eq!(name, "docs");
        assert_eq!(
            entry,
            json!({ "url": "https://x.example", "transport": "http" })
        );
    }

    #[test]
    fn a_name_alone_is_a_configured_server() {
        assert!(matches!(read(&["github"]), Ok(Wanted::Configured(name)) if name == "github"));
        assert_eq!(
            read(&["github", "--force"]).unwrap_err(),
            "there is nothing to add"
        );
    }

    #[test]
    fn what_does_not_go_together_is_refused_without_values() {
        for (arguments, message) in [
            (
                &["https://x.example", "-e", "K=hunter2"][..],
                "`--env` is for programs: use `--header`",
            ),
            (
                &["-H", "K=hunter2", "--", "x"],
                "`--header` is for addresses: use `--env`",
            ),
            (
                &["https://x.example", "--transport", "stdio"],
                "an address is not reached over stdio",
            ),
            (
                &["--transport", "sse", "--", "x"],
                "a program is reached over stdio",
            ),
            (
                &["https://x.example", "--", "x"],
                "give an address or a program, not both",
            ),
            (
                &["a", "--name", "b", "--", "x"],
                "the name is given twice: leave out `--name`",
            ),
            (
                &["https://u:hunter2@"],
                "the address is not valid: empty host",
            ),
        ] {
            assert_eq!(read(arguments).unwrap_err(), message);
        }
        let refused = read(&["--name", "a/\u{1b}[0m", "--", "x"]).unwrap_err();
        assert_eq!(
            refused,
            "\"a/\" cannot name a server: a name has no control characters and no `/`"
        );
    }
}
