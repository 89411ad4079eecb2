//! Stopping a gateway.

use std::path::Path;
use std::time::Duration;

use openclaw_link::{NoGateway, Remote};
use openclaw_state::{FileLock, LockError, layout};
use serde_json::json;

use super::found::{VERSION, is_between, not_reached};
use crate::commands::Session;
use crate::commands::engine::awaited;
use crate::failure::{Exit, Failure};

/// How long a gateway may take to stop: six seconds, and the time it takes to say so.
const PATIENCE: Duration = Duration::from_secs(8);

pub(super) fn run(session: &mut Session<'_>, json: bool) -> Result<Exit, Failure> {
    let state = session.location()?.state;
    let asked = awaited(async {
        let remote = match Remote::connect(&state, VERSION).await {
            Ok(remote) => remote,
            Err(NoGateway::Absent) => return Ok(None),
            Err(error) => return Err(not_stopped(&error)),
        };
        remote.stop().await?;
        Ok(Some(remote.greeting().clone()))
    })??;
    let Some(greeting) = asked else {
        if is_between(&state) {
            // It stops already, or will be asked by whoever starts it.
            return wait(session, &state, None, json);
        }
        if json {
            session
                .output
                .print_report(&json!({ "stopped": false, "pid": null }))?;
        } else {
            session.output.print("no gateway runs\n")?;
        }
        return Ok(Exit::Done);
    };
    wait(session, &state, Some(greeting.pid), json)
}

/// Waits until the gateway has stopped. Whoever has the lock is still there, whatever the socket says.
fn wait(
    session: &mut Session<'_>,
    state: &Path,
    pid: Option<u32>,
    json: bool,
) -> Result<Exit, Failure> {
    let named = pid.map_or_else(String::new, |pid| format!(" (PID {pid})"));
    match FileLock::acquire(&state.join(layout::GATEWAY_LOCK), PATIENCE) {
        Ok(_) => {}
        Err(LockError::Busy { .. }) => {
            let message = match pid {
                Some(_) => format!("the gateway{named} was asked to stop and has not stopped yet"),
                None => "a gateway is starting or stopping, and can't be asked".to_owned(),
            };
            return Err(Failure::failed("gateway-stop", message));
        }
        Err(error @ LockError::Io { .. }) => {
            return Err(Failure::failed("state", error.to_string()));
        }
    }
    if json {
        let stopped = json!({ "stopped": true, "pid": pid });
        session.output.print_report(&stopped)?;
    } else {
        session.output.print(&format!("gateway stopped{named}\n"))?;
    }
    Ok(Exit::Done)
}

/// Says by whom a gateway can be stopped that does not understand us.
fn not_stopped(error: &NoGateway) -> Failure {
    match error {
        NoGateway::Mismatch(theirs) => {
            let hint = format!("`kill {}` stops it", theirs.pid);
            not_reached(error).hint(hint)
        }
        _ => not_reached(error),
    }
}
