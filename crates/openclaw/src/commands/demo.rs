//! `openclaw demo`: what this does, shown on a machine with no configuration, key or network.
//!
//! | module | owns |
//! |---|---|
//! | `place` | the temporary directory that the tour lives in |
//! | `tour` | the steps, each of which has to have happened |
//! | `telling` | the steps as text, and as JSON |

mod place;
mod telling;
mod tour;

use std::io::{ErrorKind, stdin};
use std::time::{Duration, Instant};

use openclaw_config::Overrides;

use crate::commands::Session;
use crate::commands::configuration::usable_config;
use crate::commands::engine::{listen, with_own_engine};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use place::Place;
use telling::{closing, introduction};
use tour::{Facts, take};

/// How long a process may take to be gone once it was stopped.
const GONE: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Is the MCP server of the tour.
pub(super) fn serve(output: &mut Output) -> Result<Exit, Failure> {
    let served = openclaw_demo_server::serve(stdin().lock(), output.wire());
    match served {
        Ok(()) => Ok(Exit::Done),
        // Whoever started it has gone, which is how it ends.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(error) => {
            let message = format!("the demo server has ended: {error}");
            Err(Failure::failed("demo", message))
        }
    }
}

/// Shows the tour. What the person has, configuration and state, is not looked at.
pub(super) fn run(session: &mut Session<'_>, json: bool) -> Result<Exit, Failure> {
    // Heard before there is anything that would have to be deleted.
    let signals = listen()?;
    let place = Place::new()?;
    if !json {
        session.output.print(introduction())?;
    }
    let mut inner = Session {
        redactor: session.redactor,
        environment: place.environment(),
        overrides: Overrides::default(),
        local: true,
        operation: session.operation,
        output: &mut *session.output,
    };
    let config = usable_config(&inner)?;
    let written = place.config_text()?;
    let state = inner.state()?;
    let facts = with_own_engine(
        &mut inner,
        config,
        state,
        signals,
        async |engine, session| take(engine, session, &written, json).await,
    )?;
    if !is_gone(&facts) {
        let pid = facts.pid;
        let message = format!("the demo server is still running (PID {pid})");
        return Err(Failure::failed("demo", message));
    }
    let directory = place.remove()?;
    if json {
        session.output.print_report(&facts)?;
    } else {
        let text = closing(&facts, &directory, session.output.page());
        session.output.print(&text)?;
    }
    Ok(Exit::Done)
}

/// Whether the server's process has ended.
fn is_gone(facts: &Facts) -> bool {
    let begun = Instant::now();
    while is_running(facts.pid) {
        if begun.elapsed() > GONE {
            return false;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    true
}

#[cfg(unix)]
fn is_running(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok();
    let pid = pid.and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

/// Elsewhere whoever stopped it has waited for its end, and there is no second way to look.
#[cfg(not(unix))]
fn is_running(_pid: u32) -> bool {
    false
}

#[cfg(test)]
mod tests;
