//! Reaching a server: the transports and eras are tried one after the other, within one deadline.

mod address;
mod memory;
mod program;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use openclaw_process::{Launcher, StderrTail};
use tokio::time::{Instant, timeout_at};

pub use self::memory::{EraMemory, RememberedEra};
use crate::connection::Connection;
use crate::error::{ConnectError, RequestError, Unauthorized, UnknownOutcome};
use crate::http::HttpClients;
use crate::session::{Core, Era};
use crate::target::{Endpoint, Protocol, Target};
use crate::text::shown;
use crate::time::deadline;
use crate::transport::Link;

/// Connects to servers. All connections of a process share one.
pub struct Connector {
    launcher: Arc<Launcher>,
    clients: HttpClients,
    memory: Option<EraMemory>,
    environment: Vec<(OsString, OsString)>,
    directory: PathBuf,
}

/// What is being done, for the message of whoever runs out of time.
struct Step {
    within: Duration,
    until: Instant,
    state: Mutex<StepState>,
}

#[derive(Default)]
struct StepState {
    doing: &'static str,
    stderr: Option<StderrTail>,
    /// Whether every request carries credentials of the configuration.
    shows_credentials: bool,
}

impl Connector {
    /// A connector that starts programs with `launcher`, in our `environment` and `directory`, and
    /// remembers in `memory` what servers speak.
    pub fn new(
        launcher: Arc<Launcher>,
        environment: Vec<(OsString, OsString)>,
        directory: PathBuf,
        memory: Option<EraMemory>,
    ) -> Self {
        let variables = environment.clone();
        let variable = move |name: &str| {
            let found = variables.iter().find(|(key, _)| key == name);
            found.and_then(|(_, value)| value.to_str().map(str::to_owned))
        };
        Self {
            launcher,
            clients: HttpClients::new(variable),
            memory,
            environment,
            directory,
        }
    }

    /// What starts programs.
    pub fn launcher(&self) -> &Arc<Launcher> {
        &self.launcher
    }

    /// Connects to a server.
    pub async fn connect(&self, target: &Target) -> Result<Connection, ConnectError> {
        let started = Instant::now();
        let until = deadline(target.timeouts.connection);
        let step = Step::new(target.timeouts.connection, until);
        let connecting = async {
            match &target.endpoint {
                Endpoint::Program(program) => {
                    Box::pin(self.start(target, program, until, &step)).await
                }
                Endpoint::Address(address) => {
                    Box::pin(self.reach(target, address, until, &step)).await
                }
            }
        };
        let core = match timeout_at(until, connecting).await {
            Ok(Ok(core)) => core,
            Ok(Err(error)) => {
                self.forget(target).await;
                return Err(error);
            }
            Err(_) => {
                self.forget(target).await;
                return Err(step.timed_out());
            }
        };
        self.remember(target, &core).await;
        if let Some(terms) = core.terms() {
            tracing::info!(
                server = target.name,
                version = terms.version,
                elapsed = ?started.elapsed(),
                "connected"
            );
        }
        Ok(Connection::new(core))
    }

    /// Which era the configuration or the memory says the server speaks.
    fn expected(&self, target: &Target) -> Expected {
        match target.protocol {
            Protocol::Legacy => Expected::Only(Era::Legacy),
            Protocol::Modern => Expected::Only(Era::Modern),
            Protocol::Auto => match self.recall(target) {
                Some(remembered) => Expected::First(remembered.era()),
                None => Expected::Unknown,
            },
        }
    }

    fn recall(&self, target: &Target) -> Option<RememberedEra> {
        let fingerprint = target.fingerprint.as_deref()?;
        self.memory.as_ref()?.recall(fingerprint)
    }

    async fn remember(&self, target: &Target, core: &Core) {
        let (Some(memory), Some(fingerprint), Some(terms)) =
            (&self.memory, &target.fingerprint, core.terms())
        else {
            return;
        };
        let spoken = match (terms.era, &core.link) {
            (Era::Modern, _) => RememberedEra::Modern,
            (Era::Legacy, Link::Events(_)) => RememberedEra::LegacyEvents,
            (Era::Legacy, Link::Stdio(_) | Link::Streamable(_)) => RememberedEra::Legacy,
        };
        memory.remember(fingerprint, spoken).await;
    }

    /// What was remembered may be the reason of a failure.
    async fn forget(&self, target: &Target) {
        if let (Some(memory), Some(fingerprint)) = (&self.memory, &target.fingerprint) {
            memory.forget(fingerprint).await;
        }
    }
}

/// Which era is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// Only this.
    Only(Era),
    /// This before the other.
    First(Era),
    /// Whichever the server speaks.
    Unknown,
}

impl Step {
    fn new(within: Duration, until: Instant) -> Self {
        Self {
            within,
            until,
            state: Mutex::default(),
        }
    }

    fn doing(&self, doing: &'static str) {
        self.lock().doing = doing;
    }

    fn showing_credentials(&self) {
        self.lock().shows_credentials = true;
    }

    fn reading(&self, stderr: StderrTail) {
        self.lock().stderr = Some(stderr);
    }

    /// The last lines that the program wrote to its standard error.
    fn last_words(&self) -> Vec<String> {
        let stderr = self.lock().stderr.clone();
        let lines = stderr.map(|stderr| stderr.texts()).unwrap_or_default();
        let lines = lines.iter().filter(|line| !line.trim().is_empty());
        lines.map(|line| shown(line, 300)).collect()
    }

    fn timed_out(&self) -> ConnectError {
        let doing = self.lock().doing;
        ConnectError::TimedOut {
            within: self.within,
            doing,
            last: self.last_words(),
        }
    }

    /// Says why a handshake failed.
    fn failed(&self, error: RequestError) -> ConnectError {
        match error {
            // Whatever was waited for last: it is the time that is over.
            RequestError::OutcomeUnknown(_) | RequestError::NotSent(_)
                if Instant::now() >= self.until =>
            {
                self.timed_out()
            }
            RequestError::Refused(error) => ConnectError::Refused(error.to_string()),
            RequestError::Http(failure) if matches!(failure.status.as_u16(), 401 | 403) => {
                ConnectError::Unauthorized(Unauthorized {
                    reason: if self.lock().shows_credentials {
                        format!(
                            "the server refuses the credentials of the configuration (`apiKey`, \
                             `headers.Authorization`, or those in the address): {failure}"
                        )
                    } else {
                        format!("the server asks for authorization: {failure}")
                    },
                    failure: Some(failure),
                })
            }
            RequestError::Unauthorized(unauthorized) => ConnectError::Unauthorized(unauthorized),
            RequestError::NoToken(reason) => ConnectError::NoToken(reason),
            RequestError::Http(failure) => ConnectError::Refused(failure.to_string()),
            RequestError::BadAnswer(reason) | RequestError::BadResult(reason) => {
                ConnectError::Refused(format!("its answer can't be used: {reason}"))
            }
            RequestError::OutcomeUnknown(UnknownOutcome::Lost(reason)) => ConnectError::Gone {
                reason,
                last: self.last_words(),
            },
            RequestError::NotSent(reason) if self.lock().stderr.is_some() => ConnectError::Gone {
                reason,
                last: self.last_words(),
            },
            RequestError::NotSent(reason) => ConnectError::Unreachable(reason),
            RequestError::OutcomeUnknown(
                UnknownOutcome::Silent(_) | UnknownOutcome::Overdue(_),
            ) => self.timed_out(),
            error @ RequestError::NotOffered(_) => ConnectError::Refused(error.to_string()),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, StepState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
