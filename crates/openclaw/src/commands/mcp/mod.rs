//! `openclaw mcp …`
//!
//! | module | owns |
//! |---|---|
//! | `servers` | lists of servers, one server in detail, its lines of standard error |
//! | `tools` | tools, calls of them, approval |
//! | `offers` | resources and prompts |
//! | `login` | logging in to servers and out |
//! | `connect` | a new server: tried, then written |
//! | `import` | servers of other clients: found, checked, written |
//! | `definitions` | definitions in the configuration: shown, written, deleted |
//! | `waiting` | waiting for the keyring, until somebody wants us to stop |
//! | `words` | what stands on the standard input in place of a word |

mod connect;
mod definitions;
mod import;
mod login;
mod offers;
mod servers;
mod tools;
mod waiting;
mod words;

use serde::Serialize;

use crate::cli::{McpCommand, McpOptions};
use crate::commands::configuration::find_agent;
use crate::commands::{Session, doctor, serving};
use crate::failure::{Exit, Failure};
use crate::render::Page;

pub(super) use servers::settled;

pub(super) fn run(session: &mut Session<'_>, options: McpOptions) -> Result<Exit, Failure> {
    let agent = options.subject.agent;
    if let Some(name) = &agent {
        check_agent(session, name)?;
    }
    match options.command {
        McpCommand::Servers { json } => servers::list(session, agent, json.wanted),
        McpCommand::Status { name, json } => servers::status(session, agent, name, json.wanted),
        McpCommand::Auth(options) => login::auth(session, agent, options),
        McpCommand::Logout { name, json } => login::logout(session, agent, name, json.wanted),
        McpCommand::ClientMetadata { name, url, json: _ } => {
            login::client_metadata(session, agent, name, url)
        }
        McpCommand::Disconnect { name, json } => {
            servers::disconnect(session, agent, name, json.wanted)
        }
        McpCommand::Refresh { name, json } => servers::refresh(session, agent, name, json.wanted),
        McpCommand::Probe { name, json } => servers::probe(session, agent, name, json.wanted),
        McpCommand::Logs { name, follow, json } => {
            servers::logs(session, agent, name, follow, json.wanted)
        }
        McpCommand::Tools { server, json } => tools::list(session, agent, server, json.wanted),
        McpCommand::Serve(_) => serving::mcp(session, agent),
        McpCommand::Call(options) => tools::call(session, agent, options),
        McpCommand::Approve { tool, json } => tools::approve(session, agent, tool, json.wanted),
        McpCommand::Resources { server, json } => {
            offers::resources(session, agent, server, json.wanted)
        }
        McpCommand::Read(options) => offers::read(session, agent, options),
        McpCommand::Prompts { server, json } => {
            offers::prompts(session, agent, server, json.wanted)
        }
        McpCommand::Prompt {
            server,
            name,
            arguments,
            json,
        } => offers::prompt(session, agent, (server, name), &arguments, json.wanted),
        McpCommand::Connect(options) => connect::run(session, agent, &options),
        McpCommand::Import(options) => import::run(session, &options),
        McpCommand::Remove { name, json } => {
            definitions::remove(session, agent, &name, json.wanted)
        }
        McpCommand::Show { name, json: _ } => {
            definitions::show(session, agent.as_deref(), name.as_deref())
        }
        McpCommand::Set {
            name,
            definition,
            json,
        } => definitions::set(session, &name, &definition, json.wanted),
        McpCommand::Doctor { name, options } => {
            let scope = name.map_or(doctor::Scope::Servers, doctor::Scope::Server);
            doctor::run(session, &scope, agent, options)
        }
    }
}

/// Makes sure that there is such an agent. A configuration that can't be used is for the command to
/// tell.
fn check_agent(session: &mut Session<'_>, name: &str) -> Result<(), Failure> {
    let loaded = session.definitions()?.load();
    match &loaded.config {
        Some(config) => find_agent(config, Some(name)).map(drop),
        None => Ok(()),
    }
}

/// Prints a listing, and beside the text for people what is missing in it.
fn print_listing(
    session: &mut Session<'_>,
    report: &impl Serialize,
    text: impl FnOnce(Page) -> String,
    problems: &[String],
    json: bool,
) -> Result<Exit, Failure> {
    if json {
        session.output.print_report(report)?;
    } else {
        let text = text(session.output.page());
        session.output.print(&text)?;
        session.output.warn(problems)?;
    }
    Ok(Exit::Done)
}
