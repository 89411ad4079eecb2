//! The commands, their options and their help.

mod agent;
mod gateway;
mod import;
mod mcp;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::logging::{LogFormat, LogLevel};

pub(crate) use agent::{AgentOptions, ChatOptions, SessionsCommand, SessionsOptions, Store};
pub(crate) use gateway::{BindWord, GatewayCommand, GatewayOptions, RunOptions};
pub(crate) use import::ImportOptions;
pub(crate) use mcp::{
    AuthOptions, CallOptions, ConnectOptions, McpCommand, McpOptions, ReadOptions, TransportWord,
};

/// Connects AI agents to MCP servers, and offers the agent to every MCP client.
#[derive(Debug, Parser)]
#[command(
    name = "openclaw",
    version,
    propagate_version = true,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command has.
#[derive(Debug, Args)]
pub(crate) struct GlobalOptions {
    /// Reads this configuration file [default: openclaw.json in the state directory]
    #[arg(
        long,
        global = true,
        value_name = "PATH",
        help_heading = "Global options"
    )]
    pub(crate) config: Option<PathBuf>,
    /// Uses the state and configuration of this profile, ~/.openclaw-NAME
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        help_heading = "Global options"
    )]
    pub(crate) profile: Option<String>,
    /// How much is told on stderr [default: warn, and of servers only errors]
    #[arg(
        long,
        global = true,
        value_name = "LEVEL",
        env = "OPENCLAW_LOG_LEVEL",
        hide_env = true,
        help_heading = "Global options"
    )]
    pub(crate) log_level: Option<LogLevel>,
    /// The form of log lines on stderr
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        env = "OPENCLAW_LOG_FORMAT",
        hide_env = true,
        default_value = "human",
        help_heading = "Global options"
    )]
    pub(crate) log_format: LogFormat,
    /// Does everything in this process, even where a gateway is running
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) local: bool,
    /// Writes without colour
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) no_color: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Shows what this does, with no configuration, key or network
    Demo {
        #[command(flatten)]
        json: Json,
    },
    /// Sends a message to an agent and prints its reply
    Agent(Box<AgentOptions>),
    /// Talks with an agent
    Chat(Box<ChatOptions>),
    /// Offers the agent to MCP clients as a tool, on stdio
    McpServer {
        /// The agent that answers, and no other [default: the one of the session, else the default agent]
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
        #[command(flatten)]
        options: ServingOptions,
    },
    /// Offers the agent to editors, on stdio
    Acp {
        /// The agent of new sessions [default: the default agent]
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
        #[command(flatten)]
        options: ServingOptions,
    },
    /// Uses and manages MCP servers
    #[command(arg_required_else_help = true)]
    Mcp(McpOptions),
    /// Runs the gateway: one process that has all servers, for everybody
    Gateway(GatewayOptions),
    /// Lists and shows what was said with agents
    Sessions(SessionsOptions),
    /// Shows everything on one screen
    Status {
        #[command(flatten)]
        json: Json,
    },
    /// Looks for problems and says how to fix each; exit code 1 if there are any
    Doctor(DoctorOptions),
    /// Checks and shows the configuration
    #[command(subcommand, arg_required_else_help = true)]
    Config(ConfigCommand),
    /// Prints completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Prints the manual page, or writes one for each command
    Man {
        /// Writes the pages into this directory
        #[arg(long, value_name = "DIR")]
        output: Option<PathBuf>,
    },
    /// The MCP server of `openclaw demo`, on stdio
    #[command(hide = true)]
    DemoServer,
    /// Prints a page of the documentation that is made from the code
    #[command(hide = true)]
    Reference {
        /// The page
        page: ReferencePage,
    },
}

impl Command {
    /// Whether what we do is told on stderr, line by line.
    pub(crate) fn is_verbose(&self) -> bool {
        let (Self::McpServer { options, .. }
        | Self::Acp { options, .. }
        | Self::Mcp(McpOptions {
            command: McpCommand::Serve(options),
            ..
        })) = self
        else {
            return false;
        };
        options.verbose
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Reports everything that is wrong with the configuration
    Validate {
        #[command(flatten)]
        json: Json,
    },
    /// Prints the resolved configuration as JSON, credentials hidden
    Show {
        /// Resolves the servers of this agent [default: the default agent]
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
        #[command(flatten)]
        json: Json,
    },
    /// Prints the JSON Schema of the configuration
    Schema {
        #[command(flatten)]
        json: Json,
    },
    /// Prints where the configuration is
    Path {
        #[command(flatten)]
        json: Json,
    },
}

/// The agent for a program on stdio.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ServingOptions {
    /// Tells on stderr what is asked and answered
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// What is looked at for problems.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DoctorOptions {
    /// Also starts or reaches every server, and asks the services of models
    #[arg(long)]
    pub(crate) probe: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}

/// The option of every command that has a result for programs.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Json {
    /// Prints JSON
    #[arg(long = "json")]
    pub(crate) wanted: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ReferencePage {
    /// The settings of openclaw.json
    Configuration,
    /// The files of the state directory
    StateDirectory,
}
