//! What can be typed behind `/mcp`.

use std::fmt;

use clap::error::{ContextKind, ErrorKind};
use clap::{Args, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use openclaw_content::shown_line;
use openclaw_engine::{EngineFailure, ServerEntry};
use serde_json::Value;

use crate::words::words;

/// How wide help is laid out, wherever it is shown.
const WIDTH: usize = 96;

/// Manages the MCP servers of the agent
#[derive(Debug, Parser)]
#[command(
    name = "/mcp",
    no_binary_name = true,
    disable_version_flag = true,
    arg_required_else_help = false
)]
struct McpLine {
    #[command(subcommand)]
    command: Option<McpCommand>,
}

#[derive(Debug, PartialEq, Subcommand)]
pub(super) enum McpCommand {
    /// Lists the servers and how they are
    #[command(visible_alias = "list")]
    Servers,
    /// Lists the tools by the names that the model sees
    Tools {
        /// Only those of this server
        server: Option<String>,
    },
    /// Shows everything about a server, or about all
    Status {
        /// The server
        name: Option<String>,
    },
    /// Adds a server after trying it, or connects a configured one again
    #[command(visible_alias = "add")]
    Connect(Box<ConnectLine>),
    /// Stops a server until somebody asks for it
    Disconnect {
        /// The server
        name: String,
    },
    /// Logs in to a server with a browser
    #[command(visible_alias = "login")]
    Auth {
        /// The server
        name: String,
        /// Ends a login that was begun before: a code, or the address that the browser shows
        #[arg(long, value_name = "CODE_OR_URL", allow_hyphen_values = true)]
        code: Option<Hidden>,
    },
    /// Gives up the login to a server
    Logout {
        /// The server
        name: String,
    },
    /// Lists again what servers offer, and revives those that failed
    Refresh {
        /// Only this server
        name: Option<String>,
    },
    /// Lists what servers offer to read
    Resources {
        /// Only those of this server
        server: Option<String>,
    },
    /// Reads a resource
    Read {
        /// The server
        server: String,
        /// The resource
        uri: String,
    },
    /// Lists the prompts that servers offer
    Prompts {
        /// Only those of this server
        server: Option<String>,
    },
    /// Shows a prompt, filled in; `/SERVER:PROMPT` sends it to the model
    Prompt {
        /// The server
        server: String,
        /// The prompt
        name: String,
        /// What it is filled in with
        #[arg(value_name = "KEY=VALUE")]
        arguments: Vec<String>,
    },
    /// Accepts a tool's definition after it has changed
    Approve {
        /// The tool, in any spelling
        tool: String,
    },
    /// Shows what a server wrote to its standard error
    Logs {
        /// The server
        name: String,
    },
    /// Prints the definition of a server, or of all, credentials hidden
    #[command(visible_alias = "get")]
    Show {
        /// The server
        name: Option<String>,
    },
    /// Writes the definition of a server to the configuration without trying it
    Set {
        /// The server and its definition
        #[arg(value_name = "NAME={JSON}")]
        definition: Hidden,
    },
    /// Stops a server and deletes it from the configuration
    #[command(visible_alias = "remove")]
    Unset {
        /// The server
        name: String,
    },
    /// Reads the configuration anew
    Reload,
}

/// A word that may hold a credential.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Hidden(pub(super) String);

impl From<String> for Hidden {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Hidden")
    }
}

/// What is connected, and how.
#[derive(Debug, PartialEq, Args)]
pub(super) struct ConnectLine {
    /// The address of a server, or the name of a configured one
    #[arg(value_name = "URL|NAME", required_unless_present = "program")]
    pub(super) target: Option<Hidden>,
    /// The program of a server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) program: Vec<Hidden>,
    /// Gives the server this name
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Sends this header with every request
    #[arg(long = "header", short = 'H', value_name = "NAME=VALUE")]
    pub(super) headers: Vec<Hidden>,
    /// Gives the program this variable
    #[arg(long = "env", short = 'e', value_name = "NAME=VALUE")]
    pub(super) variables: Vec<Hidden>,
    /// How to speak to the server: stdio, http or sse
    #[arg(long, value_name = "TRANSPORT", value_parser = ["stdio", "http", "sse"])]
    pub(super) transport: Option<String>,
    /// Writes the server without trying it
    #[arg(long)]
    pub(super) no_check: bool,
    /// Replaces a server of the same name
    #[arg(long)]
    pub(super) force: bool,
    /// Writes credentials to the configuration, not to the keyring
    #[arg(long)]
    pub(super) no_keyring: bool,
}

/// What a line asks for.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// This.
    Command(McpCommand),
    /// How to use it.
    Help(String),
}

/// Reads what stands behind `/mcp`.
pub(super) fn read(rest: &str) -> Result<Line, EngineFailure> {
    // JSON has quotes of its own, which are no quotes of words.
    if let Some(definition) = behind_word(rest, "set").filter(|it| !it.starts_with('-')) {
        let definition = Hidden(definition.to_owned());
        return Ok(Line::Command(McpCommand::Set { definition }));
    }
    let words = words(rest).into_iter().map(|word| word.text);
    match McpLine::try_parse_from_words(words) {
        Ok(McpLine { command: None }) => Ok(Line::Help(help())),
        Ok(McpLine {
            command: Some(command),
        }) => Ok(Line::Command(command)),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp => Ok(Line::Help(error.render().to_string())),
            _ => Err(usage(&error)),
        },
    }
}

impl McpLine {
    fn try_parse_from_words(words: impl Iterator<Item = String>) -> Result<Self, clap::Error> {
        let matches = laid_out().try_get_matches_from(words)?;
        Self::from_arg_matches(&matches)
    }
}

/// The commands, with help as wide as it is everywhere.
fn laid_out() -> Command {
    McpLine::command().bin_name("/mcp").term_width(WIDTH)
}

/// A kind of argument that can be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    Server,
    Tool,
    Prompt,
    Resource,
}

/// A command of `/mcp`, for whoever completes it.
pub(crate) struct Grammar {
    /// Its name, whichever of them was typed.
    pub(crate) name: &'static str,
    /// What follows it.
    pub(crate) arguments: &'static [Argument],
}

/// What can follow a command of `/mcp`.
pub(crate) fn grammar(word: &str) -> Option<Grammar> {
    use Argument::{Prompt, Resource, Server, Tool};
    let grammar = |name, arguments| Some(Grammar { name, arguments });
    match word {
        "servers" | "list" => grammar("servers", &[]),
        "tools" => grammar("tools", &[Server]),
        "status" => grammar("status", &[Server]),
        "connect" | "add" => grammar("connect", &[Server]),
        "disconnect" => grammar("disconnect", &[Server]),
        "auth" | "login" => grammar("auth", &[Server]),
        "logout" => grammar("logout", &[Server]),
        "refresh" => grammar("refresh", &[Server]),
        "resources" => grammar("resources", &[Server]),
        "read" => grammar("read", &[Server, Resource]),
        "prompts" => grammar("prompts", &[Server]),
        "prompt" => grammar("prompt", &[Server, Prompt]),
        "approve" => grammar("approve", &[Tool]),
        "logs" => grammar("logs", &[Server]),
        "show" | "get" => grammar("show", &[Server]),
        "set" => grammar("set", &[Server]),
        "unset" | "remove" => grammar("unset", &[Server]),
        "reload" => grammar("reload", &[]),
        _ => None,
    }
}

/// The commands of `/mcp` with what they do.
pub fn subcommands() -> Vec<(String, String)> {
    let command = McpLine::command();
    let commands = command.get_subcommands();
    let mut found: Vec<(String, String)> = commands
        .map(|command| {
            let about = command.get_about().map(ToString::to_string);
            (command.get_name().to_owned(), about.unwrap_or_default())
        })
        .collect();
    found.push(("help".to_owned(), "Lists what can be typed".to_owned()));
    found
}

/// The options of a command of `/mcp` with what they do.
pub fn options_of(name: &str) -> Vec<(String, String)> {
    let command = McpLine::command();
    let Some(command) = command.find_subcommand(name) else {
        return Vec::new();
    };
    let options = command.get_arguments().filter_map(|argument| {
        let long = argument.get_long()?;
        let help = argument.get_help().map(ToString::to_string);
        Some((format!("--{long}"), help.unwrap_or_default()))
    });
    options.collect()
}

/// All commands in short.
fn help() -> String {
    laid_out().render_help().to_string()
}

/// A mistake in a line. What was typed may hold a credential: only names of commands and options are
/// repeated.
fn usage(error: &clap::Error) -> EngineFailure {
    const ALL: &str = "`/mcp help` lists all commands";
    let context = |kind| error.get(kind).map(ToString::to_string);
    let written = context(ContextKind::Usage).unwrap_or_default();
    let written = written.trim().trim_start_matches("Usage:").trim();
    let hint = if written.is_empty() {
        ALL.to_owned()
    } else {
        format!("write `{written}`; {ALL}")
    };
    let argument = context(ContextKind::InvalidArg).unwrap_or_default();
    // Only an option says what it is; anything else is what somebody typed.
    let option = argument.split(['=', ' ']).next().unwrap_or_default();
    let option = shown_line(option, 40);
    let message = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = context(ContextKind::InvalidSubcommand).unwrap_or_default();
            let word = shown_line(&word, 40);
            // The likest stands last.
            let near = context(ContextKind::SuggestedSubcommand)
                .and_then(|near| near.rsplit(", ").next().map(str::to_owned));
            let message = format!("there is no command `/mcp {word}`");
            return EngineFailure::asker("usage", message).hint(match near {
                Some(near) => format!("did you mean `/mcp {near}`? {ALL}"),
                None => ALL.to_owned(),
            });
        }
        ErrorKind::MissingRequiredArgument => format!("something is missing: {argument}"),
        ErrorKind::UnknownArgument if option.starts_with('-') => {
            format!("there is no option `{option}`")
        }
        ErrorKind::UnknownArgument => "there is a word too many".to_owned(),
        ErrorKind::InvalidValue => {
            match context(ContextKind::ValidValue).filter(|values| !values.is_empty()) {
                Some(values) => format!("`{option}` takes one of: {values}"),
                None => format!("`{option}` needs a value"),
            }
        }
        _ => "this can't be read".to_owned(),
    };
    EngineFailure::asker("usage", message).hint(hint)
}

/// What follows the first word of a line, if that is this one.
fn behind_word<'l>(line: &'l str, word: &str) -> Option<&'l str> {
    let rest = line.trim_start().strip_prefix(word)?;
    let is_over = rest.is_empty() || rest.starts_with(char::is_whitespace);
    is_over.then(|| rest.trim()).filter(|rest| !rest.is_empty())
}

/// `name={…}`, or the two as words.
pub(super) fn definition(text: &str) -> Result<(String, ServerEntry), EngineFailure> {
    let wrong = |reason: &str| {
        EngineFailure::asker("usage", reason.to_owned())
            .hint("write `/mcp set NAME={\"command\": \"PROGRAM\"}` or `/mcp set NAME={\"url\": \"ADDRESS\"}`")
    };
    let Some(brace) = text.find('{') else {
        return Err(wrong("the definition of a server is a JSON object"));
    };
    let (name, json) = text.split_at(brace);
    let name = name.trim();
    let name = name.strip_suffix('=').unwrap_or(name).trim();
    let mut unquoted = words(name).into_iter().map(|word| word.text);
    let (Some(name), None) = (unquoted.next(), unquoted.next()) else {
        return Err(wrong("the name of the server is missing"));
    };
    match serde_json::from_str(json) {
        Ok(Value::Object(object)) => Ok((name, ServerEntry(object))),
        // The text may hold a credential: only the place of the mistake is told.
        Ok(_) => Err(wrong("the definition of a server is a JSON object")),
        Err(error) => Err(wrong(&format!(
            "the definition is not JSON: line {}, column {}",
            error.line(),
            error.column()
        ))),
    }
}

#[cfg(test)]
mod tests;
