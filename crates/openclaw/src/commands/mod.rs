//! What each command does.

mod agent;
#[cfg(test)]
mod canned;
mod chat;
mod config;
mod configuration;
mod demo;
mod doctor;
mod documents;
mod engine;
mod gateway;
mod keyboard;
mod mcp;
mod serving;
mod sessions;
mod spelling;
mod status;
mod turn;
mod typed;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};

use clap::Parser;
use clap::error::ErrorKind;
use openclaw_config::{Environment, Location, Overrides};
use openclaw_definitions::Definitions;
use openclaw_secrets::Redactor;
use openclaw_state::StateDirectory;

use crate::cli::{Cli, Command};
use crate::failure::{Exit, Failure};
use crate::logging;
use crate::operation::OperationId;
use crate::output::Output;

/// What every command works with.
struct Session<'a> {
    redactor: &'a Redactor,
    environment: Environment,
    overrides: Overrides,
    /// Whether a running gateway is left alone.
    local: bool,
    operation: OperationId,
    output: &'a mut Output,
}

impl Session<'_> {
    /// The files that apply.
    fn location(&self) -> Result<Location, Failure> {
        Location::find(&self.overrides, &self.environment)
            .map_err(|error| Failure::usage("location", error.to_string()))
    }

    /// The definitions of servers in those files.
    fn definitions(&self) -> Result<Definitions, Failure> {
        let environment = self.environment.clone();
        let redactor = self.redactor.clone();
        Ok(Definitions::new(self.location()?, environment, redactor))
    }

    /// The directory for what outlives this process, made where it is missing.
    fn state(&self) -> Result<StateDirectory, Failure> {
        StateDirectory::open(&self.location()?.state)
            .map_err(|error| Failure::failed("state", error.to_string()))
    }
}

/// Reads the command line and does what it says.
pub(crate) fn run(
    arguments: Vec<OsString>,
    redactor: &Redactor,
    operation: OperationId,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, output),
    };
    if matches!(cli.command, Command::DemoServer) {
        return demo::serve(output);
    }
    let environment = Environment::of_process();
    let overrides = Overrides {
        config: cli.global.config,
        profile: cli.global.profile,
    };
    // The tour leaves nothing behind, not even a line in a log.
    let is_tour = matches!(cli.command, Command::Demo { .. });
    let state = Location::find(&overrides, &environment)
        .ok()
        .filter(|_| !is_tour)
        .map(|location| location.state);
    let is_typed_on = matches!(cli.command, Command::Chat(_)) && io::stdin().is_terminal();
    logging::start(
        cli.global.log_level,
        cli.command.is_verbose(),
        is_typed_on,
        cli.global.log_format,
        state.as_deref(),
        redactor,
    );
    let span = tracing::info_span!("operation", id = %operation);
    let _entered = span.enter();
    let mut session = Session {
        redactor,
        environment,
        overrides,
        local: cli.global.local,
        operation,
        output,
    };
    let result = match cli.command {
        Command::Demo { json } => demo::run(&mut session, json.wanted),
        Command::DemoServer => demo::serve(session.output),
        Command::Agent(options) => agent::run(&mut session, *options),
        Command::Chat(options) => chat::run(&mut session, *options),
        Command::Gateway(options) => gateway::run(&mut session, options),
        Command::Sessions(options) => sessions::run(&mut session, options),
        Command::McpServer { agent, .. } => serving::mcp(&mut session, agent),
        Command::Acp { agent, .. } => serving::acp(&mut session, agent),
        Command::Mcp(options) => mcp::run(&mut session, options),
        Command::Status { json } => status::run(&mut session, json.wanted),
        Command::Doctor(options) => {
            doctor::run(&mut session, &doctor::Scope::Everything, None, options)
        }
        Command::Config(command) => config::run(&mut session, command),
        Command::Completions { shell } => documents::completions(&mut session, shell),
        Command::Man { output } => documents::manual(&mut session, output.as_deref()),
        Command::Reference { page } => documents::reference(&mut session, page),
    };
    if let Err(Failure::Told(told)) = &result
        && told.exit == Exit::Failed
    {
        tracing::error!(target: logging::FILE_ONLY, code = &*told.code, "{}", told.message);
    }
    result
}

/// Answers a command line that is not one: with help where that was wanted, else with a failure.
fn refuse(error: &clap::Error, output: &mut Output) -> Result<Exit, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output.print(&error.render().ansi().to_string())?;
            Ok(Exit::Done)
        }
        _ if output.is_json() => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            let (message, hint) = text.split_once("\n\n").unwrap_or((text, ""));
            Err(Failure::usage("usage", message.trim()).hint(hint.trim()))
        }
        _ => {
            output.explain(&error.render().ansi().to_string())?;
            Ok(Exit::Usage)
        }
    }
}
