//! Starting a server's program and agreeing with it on an era.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use std::time::Duration;

use openclaw_process::{Process, ProgramCommand, child_environment, find_program};
use tokio::time::{Instant, sleep_until};

use super::{Connector, Expected, Step};
use crate::error::{ConnectError, RequestError, UnknownOutcome};
use crate::session::{Core, Discovered, Era, discover, initialize};
use crate::target::{ProgramTarget, Target};
use crate::text::shown;
use crate::time::deadline;
use crate::traffic::{Inbound, LogAllowance};
use crate::transport::{Link, Stdio};

/// How much of a line of standard error is logged.
const STDERR_SHOWN: usize = 2_000;
/// How long a server has to answer in the second era before it is asked in the first as well.
///
/// Servers that pass over what they don't know answer nothing at all, and one that is slow to
/// answer `initialize` needs nearly all the time there is; so the wait is short, and an answer to
/// the first question still counts while the second one is open.
const PROBE: Duration = Duration::from_millis(500);

impl Connector {
    /// Starts a program and agrees with it.
    pub(super) async fn start(
        &self,
        target: &Target,
        program: &ProgramTarget,
        until: Instant,
        step: &Step,
    ) -> Result<Arc<Core>, ConnectError> {
        step.doing("waiting for its program to start");
        let core = self.open(target, program, step).await?;
        let expected = self.expected(target);
        step.doing(match expected {
            Expected::Only(Era::Legacy) | Expected::First(Era::Legacy) => {
                "waiting for its answer to `initialize`"
            }
            _ => "waiting for its answer to `server/discover`",
        });
        let agreed = match expected {
            Expected::Only(Era::Legacy) => initialize(&core, until).await,
            Expected::Only(Era::Modern) => modern(discover(&core, until).await, step)?,
            Expected::First(Era::Legacy) => match initialize(&core, until).await {
                // It may have moved on since it was last seen.
                Err(RequestError::Refused(_) | RequestError::BadAnswer(_)) => {
                    modern(discover(&core, until).await, step)?
                }
                Err(error) if is_gone(&error) => {
                    let core = self.open_again(&core, target, program, step).await?;
                    return match Box::pin(probe(&core, until, step)).await? {
                        Probed::Agreed => Ok(core),
                        Probed::Gone(error) => Err(step.failed(error)),
                    };
                }
                other => other,
            },
            Expected::First(Era::Modern) | Expected::Unknown => {
                match Box::pin(probe(&core, until, step)).await? {
                    Probed::Agreed => Ok(()),
                    Probed::Gone(_) => {
                        // It ended over a question that it does not know: now it is asked only
                        // what it knows.
                        let core = self.open_again(&core, target, program, step).await?;
                        step.doing("waiting for its answer to `initialize`");
                        return match initialize(&core, until).await {
                            Ok(()) => Ok(core),
                            Err(error) => Err(step.failed(error)),
                        };
                    }
                }
            }
        };
        match agreed {
            Ok(()) => Ok(core),
            Err(error) => Err(step.failed(error)),
        }
    }

    /// Ends a program and starts it again.
    async fn open_again(
        &self,
        old: &Core,
        target: &Target,
        program: &ProgramTarget,
        step: &Step,
    ) -> Result<Arc<Core>, ConnectError> {
        old.link.close().await;
        self.open(target, program, step).await
    }

    async fn open(
        &self,
        target: &Target,
        program: &ProgramTarget,
        step: &Step,
    ) -> Result<Arc<Core>, ConnectError> {
        let mut process = self.spawn(target, program).await?;
        step.reading(process.stderr().clone());
        let inbound = Inbound::new(&target.name, target.roots.clone());
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(ConnectError::Gone {
                reason: "its program has no streams".to_owned(),
                last: Vec::new(),
            });
        };
        let patience = target.timeouts.request;
        let stdio = Stdio::new(process, input, output, inbound.clone(), patience);
        Ok(Core::new(inbound, Link::Stdio(stdio), target))
    }

    async fn spawn(
        &self,
        target: &Target,
        program: &ProgramTarget,
    ) -> Result<Process, ConnectError> {
        let declared = program.environment.iter().map(|(name, value)| {
            let value = OsString::from(value.expose());
            (OsString::from(name), value)
        });
        let environment = child_environment(
            self.environment.iter().cloned(),
            &program.inherited,
            declared,
        );
        let variable = |name: &str| environment.get(OsStr::new(name)).map(OsString::as_os_str);
        let directory = program.directory.as_ref().unwrap_or(&self.directory);
        let found = find_program(
            &program.command,
            variable("PATH"),
            variable("PATHEXT"),
            directory,
        )?;
        let command = ProgramCommand {
            program: found,
            arguments: program.arguments.iter().map(OsString::from).collect(),
            environment: environment.into_iter().collect(),
            directory: program.directory.clone(),
        };
        let server = target.name.clone();
        let allowance = LogAllowance::default();
        let heard = move |line: &str| {
            if allowance.take(&server) {
                tracing::warn!(server, "stderr: {}", shown(line, STDERR_SHOWN));
            }
        };
        let process = self.launcher.spawn(&command, heard).await?;
        tracing::info!(server = target.name, pid = process.pid(), "server started");
        Ok(process)
    }
}

enum Probed {
    /// There is an agreement.
    Agreed,
    /// The program ended over the question.
    Gone(RequestError),
}

/// Whether the program is not there any more.
fn is_gone(error: &RequestError) -> bool {
    matches!(
        error,
        RequestError::NotSent(_) | RequestError::OutcomeUnknown(UnknownOutcome::Lost(_))
    )
}

/// Asks for the second era and, if there is no answer for a while, for the first as well.
async fn probe(core: &Core, until: Instant, step: &Step) -> Result<Probed, ConnectError> {
    let discovering = discover(core, until);
    tokio::pin!(discovering);
    let in_time = tokio::select! {
        biased;
        discovered = &mut discovering => Some(discovered),
        () = sleep_until(until.min(deadline(PROBE))) => None,
    };
    let discovered = match in_time {
        Some(discovered) => discovered,
        None => {
            step.doing("waiting for its answer to `server/discover` or `initialize`");
            let initializing = initialize(core, until);
            tokio::pin!(initializing);
            tokio::select! {
                biased;
                discovered = &mut discovering => match discovered {
                    // The first question was not understood; the second one is on its way.
                    Ok(Discovered::Legacy) => return finished(initializing.await, step),
                    other => other,
                },
                initialized = &mut initializing => match initialized {
                    // The second question was not understood; the first one is still open.
                    Err(error @ (RequestError::Refused(_) | RequestError::BadAnswer(_))) => {
                        match discovering.await {
                            Ok(Discovered::Legacy) => return Err(step.failed(error)),
                            other => other,
                        }
                    }
                    other => return finished(other, step),
                },
            }
        }
    };
    match discovered {
        Ok(Discovered::Legacy) => {
            step.doing("waiting for its answer to `initialize`");
            match initialize(core, until).await {
                Ok(()) => Ok(Probed::Agreed),
                Err(error) => Err(step.failed(error)),
            }
        }
        Ok(Discovered::Modern) => Ok(Probed::Agreed),
        Ok(Discovered::Strange(offered)) => Err(ConnectError::Revision { offered }),
        Err(error) if is_gone(&error) => Ok(Probed::Gone(error)),
        Err(error) => Err(step.failed(error)),
    }
}

fn finished(initialized: Result<(), RequestError>, step: &Step) -> Result<Probed, ConnectError> {
    match initialized {
        Ok(()) => Ok(Probed::Agreed),
        Err(error) if is_gone(&error) => Ok(Probed::Gone(error)),
        Err(error) => Err(step.failed(error)),
    }
}

/// Takes nothing but the second era.
fn modern(
    discovered: Result<Discovered, RequestError>,
    step: &Step,
) -> Result<Result<(), RequestError>, ConnectError> {
    match discovered {
        Ok(Discovered::Modern) => Ok(Ok(())),
        Ok(Discovered::Strange(offered)) => Err(ConnectError::Revision { offered }),
        Ok(Discovered::Legacy) => Err(ConnectError::Refused(
            "it does not speak the second era of the protocol".to_owned(),
        )),
        Err(error) => Err(step.failed(error)),
    }
}
