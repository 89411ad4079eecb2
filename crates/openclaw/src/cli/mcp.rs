//! `openclaw mcp …`
//!
//! Texts that can hold a credential are taken as they are and read by the commands: a mistake that
//! is found here would be answered with the whole text.

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::{DoctorOptions, ImportOptions, Json, ServingOptions};

/// Options of every `mcp` command.
#[derive(Debug, Args)]
pub(crate) struct McpOptions {
    #[command(flatten)]
    pub(crate) subject: McpSubject,
    #[command(subcommand)]
    pub(crate) command: McpCommand,
}

/// Whose servers are meant, and who is asked about them.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct McpSubject {
    /// Uses the servers and the policy of this agent [default: the default agent]
    #[arg(
        long,
        global = true,
        value_name = "ID",
        help_heading = "Global options"
    )]
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Lists the servers and how they are
    #[command(visible_alias = "list")]
    Servers {
        #[command(flatten)]
        json: Json,
    },
    /// Lists the tools by the names that the model sees
    Tools {
        /// Only those of this server
        server: Option<String>,
        #[command(flatten)]
        json: Json,
    },
    /// Offers the agent to MCP clients as a tool, as `openclaw mcp-server` does
    Serve(ServingOptions),
    /// Calls a tool
    Call(CallOptions),
    /// Shows everything about a server, or about all
    Status {
        /// The server
        name: Option<String>,
        #[command(flatten)]
        json: Json,
    },
    /// Adds a server after trying it, or connects a configured one again
    #[command(visible_alias = "add")]
    Connect(Box<ConnectOptions>),
    /// Logs in to a server, with a browser here or elsewhere
    #[command(visible_alias = "login")]
    Auth(AuthOptions),
    /// Gives up the login to a server, also at the authorization server
    Logout {
        /// The server
        name: String,
        #[command(flatten)]
        json: Json,
    },
    /// Prints the document that describes this client to authorization servers
    ClientMetadata {
        /// The server whose settings it is for [default: the usual settings]
        name: Option<String>,
        /// Where the document will be [default: `auth.clientMetadataUrl` of the server]
        #[arg(long, value_name = "URL", required_unless_present = "name")]
        url: Option<String>,
        #[command(flatten)]
        json: Json,
    },
    /// Stops a server until somebody asks for it
    Disconnect {
        /// The server
        name: String,
        #[command(flatten)]
        json: Json,
    },
    /// Stops a server and deletes it from the configuration
    #[command(visible_alias = "unset")]
    Remove {
        /// The server
        name: String,
        #[command(flatten)]
        json: Json,
    },
    /// Lists again what servers offer, and revives those that failed
    #[command(visible_alias = "reload")]
    Refresh {
        /// Only this server
        name: Option<String>,
        #[command(flatten)]
        json: Json,
    },
    /// Lists what servers offer to read
    Resources {
        /// Only those of this server
        server: Option<String>,
        #[command(flatten)]
        json: Json,
    },
    /// Reads a resource
    Read(ReadOptions),
    /// Lists the prompts that servers offer
    Prompts {
        /// Only those of this server
        server: Option<String>,
        #[command(flatten)]
        json: Json,
    },
    /// Fills in a prompt
    Prompt {
        /// The server
        server: String,
        /// The prompt
        name: String,
        /// What it is filled in with
        #[arg(value_name = "KEY=VALUE")]
        arguments: Vec<String>,
        #[command(flatten)]
        json: Json,
    },
    /// Accepts a tool's definition after it has changed
    Approve {
        /// The tool, in any spelling
        tool: String,
        #[command(flatten)]
        json: Json,
    },
    /// Takes over the servers of other MCP clients
    Import(ImportOptions),
    /// Shows what a server wrote to its standard error
    Logs {
        /// The server
        name: String,
        /// Goes on with what it writes from now on
        #[arg(short, long, conflicts_with = "wanted")]
        follow: bool,
        #[command(flatten)]
        json: Json,
    },
    /// Connects to a server, or to all, and says whether that works
    Probe {
        /// The server
        name: Option<String>,
        #[command(flatten)]
        json: Json,
    },
    /// Looks for problems of servers and says how to fix each
    Doctor {
        /// Only this server
        name: Option<String>,
        #[command(flatten)]
        options: DoctorOptions,
    },
    /// Prints the definition of a server, or of all, as JSON, credentials hidden
    Show {
        /// The server
        name: Option<String>,
        #[command(flatten)]
        json: Json,
    },
    /// Writes the definition of a server to the configuration without trying it
    Set {
        /// The server
        name: String,
        /// Its definition as JSON; `-` reads it from the standard input
        #[arg(value_name = "JSON")]
        definition: String,
        #[command(flatten)]
        json: Json,
    },
}

/// What is called, and with what.
#[derive(Debug, Args)]
pub(crate) struct CallOptions {
    /// The tool, in any spelling: `mcp_SERVER_TOOL`, `SERVER__TOOL`, `SERVER/TOOL`
    pub(crate) tool: String,
    /// Arguments, typed by the tool's schema; they win over those of --args
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) words: Vec<String>,
    /// Arguments as a JSON object; `-` reads it from the standard input
    #[arg(long = "args", value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) object: Option<String>,
    /// Prints what the model would read
    #[arg(long)]
    pub(crate) framed: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}

/// Where one logs in, and how.
#[derive(Debug, Args)]
#[command(
    after_help = "Without a browser on this machine, open the address that is shown anywhere. If the \
                  browser then can't reach this machine, copy the address that it shows:\n  \
                  openclaw mcp auth NAME --code -     reads it from the standard input"
)]
pub(crate) struct AuthOptions {
    /// The server
    pub(crate) name: String,
    /// Ends a login that was begun before: a code, or the address that the browser was sent to; `-`
    /// reads it from the standard input
    #[arg(long, value_name = "CODE_OR_URL", allow_hyphen_values = true)]
    pub(crate) code: Option<String>,
    /// Shows the address, and opens no browser
    #[arg(long, conflicts_with = "code")]
    pub(crate) no_browser: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}

/// What is read.
#[derive(Debug, Args)]
pub(crate) struct ReadOptions {
    /// The server
    pub(crate) server: String,
    /// The resource
    pub(crate) uri: String,
    #[command(flatten)]
    pub(crate) json: Json,
}

/// What is connected, and how.
#[derive(Debug, Args)]
#[command(
    after_help = "The name is taken from the host or the program unless it is given:\n  \
                  openclaw mcp connect https://mcp.tavily.com/mcp                           tavily\n  \
                  openclaw mcp connect -- npx -y @modelcontextprotocol/server-everything    everything"
)]
pub(crate) struct ConnectOptions {
    /// The address of a server, or the name of a configured one; before `--`, the name to give
    #[arg(value_name = "URL|NAME", required_unless_present_any = ["program", "command", "url"])]
    pub(crate) target: Option<String>,
    /// The program of a server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) program: Vec<String>,
    /// Gives the server this name
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Sends this header with every request
    #[arg(long = "header", short = 'H', value_name = "NAME=VALUE")]
    pub(crate) headers: Vec<String>,
    /// Gives the program this variable
    #[arg(long = "env", short = 'e', value_name = "NAME=VALUE")]
    pub(crate) variables: Vec<String>,
    /// How to speak to the server
    #[arg(long, value_name = "TRANSPORT")]
    pub(crate) transport: Option<TransportWord>,
    /// Writes the server without trying it
    #[arg(long)]
    pub(crate) no_check: bool,
    /// Replaces a server of the same name
    #[arg(long)]
    pub(crate) force: bool,
    /// Writes credentials to the configuration, not to the keyring
    #[arg(long)]
    pub(crate) no_keyring: bool,
    /// The address of a server, as the TypeScript OpenClaw takes it
    #[arg(long, hide = true, value_name = "URL", conflicts_with_all = ["program", "command"])]
    pub(crate) url: Option<String>,
    /// The program of a server, as the TypeScript OpenClaw takes it
    #[arg(long, hide = true, value_name = "PROGRAM", conflicts_with = "program")]
    pub(crate) command: Option<String>,
    /// An argument of that program
    #[arg(
        long = "arg",
        hide = true,
        value_name = "ARGUMENT",
        allow_hyphen_values = true,
        requires = "command"
    )]
    pub(crate) arguments: Vec<String>,
    #[command(flatten)]
    pub(crate) json: Json,
}

/// How to speak to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransportWord {
    /// Over the standard streams of a program
    Stdio,
    /// Over Streamable HTTP
    #[value(alias = "streamable-http")]
    Http,
    /// Over HTTP with server-sent events
    Sse,
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::{Cli, Command};

    fn mcp(arguments: &[&str]) -> Result<McpOptions, clap::Error> {
        let arguments = ["openclaw", "mcp"].iter().chain(arguments);
        match Cli::try_parse_from(arguments)?.command {
            Command::Mcp(options) => Ok(options),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_follows_two_dashes_is_the_program() {
        let options = mcp(&["connect", "--name", "n", "--", "npx", "-y", "x", "--json"]).unwrap();
        let McpCommand::Connect(options) = options.command else {
            panic!("{options:?}");
        };
        assert_eq!(options.program, ["npx", "-y", "x", "--json"]);
        assert!(!options.json.wanted);
        assert_eq!(options.target, None);
    }

    #[test]
    fn the_agent_may_stand_before_and_behind_the_command() {
        for arguments in [
            &["--agent", "quiet", "servers"][..],
            &["servers", "--agent", "quiet"],
        ] {
            let subject = mcp(arguments).unwrap().subject;
            assert_eq!(subject.agent.as_deref(), Some("quiet"));
        }
    }

    #[test]
    fn names_of_the_other_openclaw_are_understood() {
        for (arguments, debug) in [
            (&["list"][..], "Servers"),
            (&["add", "https://x.example"], "Connect"),
            (&["add", "x", "--command", "npx", "--arg", "-y"], "Connect"),
            (&["unset", "x"], "Remove"),
            (&["login", "x"], "Auth"),
            (&["logout", "x"], "Logout"),
            (&["reload"], "Refresh"),
            (&["probe"], "Probe"),
            (&["doctor", "x", "--probe"], "Doctor"),
            (&["show", "x"], "Show"),
            (&["set", "x", "{}"], "Set"),
        ] {
            let command = mcp(arguments).unwrap().command;
            assert!(format!("{command:?}").starts_with(debug), "{command:?}");
        }
    }

    #[test]
    fn arguments_of_a_call_may_begin_with_a_dash() {
        let options = mcp(&["call", "t", "n=-1", "--args", "-"]).unwrap();
        let McpCommand::Call(options) = options.command else {
            panic!("{options:?}");
        };
        assert_eq!(options.words, ["n=-1"]);
        assert_eq!(options.object.as_deref(), Some("-"));
    }

    #[test]
    fn nothing_to_connect_is_a_mistake() {
        assert!(mcp(&["connect"]).is_err());
        assert!(mcp(&["connect", "--url", "https://x", "--", "npx"]).is_err());
    }
}
