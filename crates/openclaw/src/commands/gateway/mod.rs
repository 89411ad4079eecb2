//! `openclaw gateway …`, and the gateway that other commands ask.
//!
//! | module | owns |
//! |---|---|
//! | `found` | the gateway that runs: found, told of changes |
//! | `running` | running one |
//! | `settings` | where it listens, and what clients prove who they are with |
//! | `looking` | whether one runs, and how it is |
//! | `stopping` | stopping one |
//! | `unit` | having systemd run one |

mod found;
mod looking;
mod running;
mod settings;
mod stopping;
mod unit;

pub(super) use found::{PATIENCE, found, tell_of_changes};
pub(super) use unit::name as unit_name;

use crate::cli::{GatewayCommand, GatewayOptions};
use crate::commands::Session;
use crate::failure::{Exit, Failure};

pub(super) fn run(session: &mut Session<'_>, options: GatewayOptions) -> Result<Exit, Failure> {
    let given = &options.run;
    if options.command.is_some() && (given.port.is_some() || given.bind.is_some()) {
        let message = "`--port` and `--bind` stand behind `run` or `install`";
        return Err(Failure::usage("usage", message));
    }
    match options.command {
        None => running::run(session, &options.run),
        Some(GatewayCommand::Run(run)) => running::run(session, &run),
        Some(GatewayCommand::Status { json }) => looking::run(session, json.wanted),
        Some(GatewayCommand::Stop { json }) => stopping::run(session, json.wanted),
        Some(GatewayCommand::Install { run, print, json }) => {
            unit::install(session, &run, print, json.wanted)
        }
        Some(GatewayCommand::Uninstall { json }) => unit::uninstall(session, json.wanted),
    }
}
