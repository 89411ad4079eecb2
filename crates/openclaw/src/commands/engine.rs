//! The engine that answers a command: opened, asked, closed again, whatever happens.

use std::sync::Arc;
use std::time::Duration;

use openclaw_config::Config;
use openclaw_content::shown_line;
use openclaw_definitions::Definitions;
use openclaw_engine::{Engine, Pending};
use openclaw_media::DocumentProgram;
use openclaw_process::{GuardianProgram, Launcher};
use openclaw_runtime::{Life, Runtime, RuntimeSetup};
use openclaw_state::StateDirectory;

use crate::commands::Session;
use crate::commands::configuration::usable_config;
use crate::commands::gateway;
use crate::failure::Failure;
use crate::output::Output;
use crate::signals::Signals;

/// How long servers may take to stop, and a login that is being renewed to be saved. Servers have a
/// limit of their own, of a few seconds; whoever gives up on a renewal loses the login.
const CLOSING: Duration = Duration::from_secs(40);
/// How long it takes before a person is told what is waited for.
const SILENT_CLOSING: Duration = Duration::from_secs(7);
/// How often what is going on is said anew.
const TICK: Duration = Duration::from_millis(100);
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Asks the engine that has the servers of the configuration: the gateway's where one runs, else one of
/// our own.
pub(super) fn with_engine<T>(
    session: &mut Session<'_>,
    question: impl AsyncFnOnce(&dyn Engine, &mut Session<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let signals = listen()?;
    with_found(session, signals, Life::Command, question)
}

/// The same for whoever goes on asking for a long time: servers that are lost come back.
pub(super) fn with_lasting_engine<T>(
    session: &mut Session<'_>,
    signals: Signals,
    question: impl AsyncFnOnce(&dyn Engine, &mut Session<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    with_found(session, signals, Life::Conversation, question)
}

/// The same for whoever asks from several tasks at a time.
pub(super) fn with_shared_engine<T>(
    session: &mut Session<'_>,
    signals: Signals,
    question: impl AsyncFnOnce(Arc<dyn Engine>, &mut Session<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        let engine = found(session, Life::Conversation).await?;
        let shared = Arc::clone(&engine);
        let question =
            async move |_: &dyn Engine, session: &mut Session<'_>| question(shared, session).await;
        ask(&*engine, signals, session, question).await
    });
    // What still runs on other threads, such as a lookup of a name, is not waited for.
    runtime.shutdown_background();
    result
}

fn with_found<T>(
    session: &mut Session<'_>,
    signals: Signals,
    life: Life,
    question: impl AsyncFnOnce(&dyn Engine, &mut Session<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        let engine = found(session, life).await?;
        ask(&*engine, signals, session, question).await
    });
    // What still runs on other threads, such as a lookup of a name, is not waited for.
    runtime.shutdown_background();
    result
}

/// The gateway's engine where one runs, else one of our own. Only that one needs the configuration: a gateway goes
/// on with an earlier one while the file can't be used.
async fn found(session: &mut Session<'_>, life: Life) -> Result<Arc<dyn Engine>, Failure> {
    if let Some(remote) = gateway::found(session).await? {
        return Ok(Arc::new(remote));
    }
    let config = usable_config(session)?;
    let state = session.state()?;
    let setup = own_setup(session, config, state, life)?;
    Ok(Arc::new(Runtime::open(setup)?))
}

/// Asks an engine of our own that has the servers of some other configuration, which stands in no file.
pub(super) fn with_engine_of<T>(
    session: &mut Session<'_>,
    config: Config,
    question: impl AsyncFnOnce(&dyn Engine, &mut Session<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let state = session.state()?;
    with_engine_in(session, config, state, question)
}

/// The same with the files of some other state directory.
pub(super) fn with_engine_in<T>(
    session: &mut Session<'_>,
    config: Config,
    state: StateDirectory,
    question: impl AsyncFnOnce(&dyn Engine, &mut Session<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let signals = listen()?;
    let setup = setup(session, config, None, state, Life::Command);
    with_runtime(session, setup, signals, question)
}

/// Hears from now on whether somebody wants us to stop.
pub(super) fn listen() -> Result<Signals, Failure> {
    Signals::listen().map_err(|error| cannot_begin(&error))
}

fn cannot_begin(error: &std::io::Error) -> Failure {
    Failure::failed("system", format!("cannot begin: {error}"))
}

/// Does what waits, where no engine is asked.
pub(super) fn awaited<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = runtime()?;
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    Ok(done)
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| cannot_begin(&error))
}

/// Asks an engine of our own that has the servers of the session's configuration, and can change it; for
/// whoever has begun to listen before.
pub(super) fn with_own_engine<T>(
    session: &mut Session<'_>,
    config: Config,
    state: StateDirectory,
    signals: Signals,
    question: impl AsyncFnOnce(&dyn Engine, &mut Session<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let setup = own_setup(session, config, state, Life::Command)?;
    with_runtime(session, setup, signals, question)
}

/// What an engine is made of that has the session's own configuration.
pub(super) fn own_setup(
    session: &Session<'_>,
    config: Config,
    state: StateDirectory,
    life: Life,
) -> Result<RuntimeSetup, Failure> {
    let definitions = session.definitions()?;
    Ok(setup(session, config, Some(definitions), state, life))
}

fn setup(
    session: &Session<'_>,
    config: Config,
    definitions: Option<Definitions>,
    state: StateDirectory,
    life: Life,
) -> RuntimeSetup {
    RuntimeSetup {
        config: Arc::new(config),
        // What is only tried, or shown around, is nobody else's business.
        traces: definitions.is_some(),
        definitions,
        state,
        redactor: session.redactor.clone(),
        environment: std::env::vars_os().collect(),
        directory: session.environment.directory().to_owned(),
        launcher: Arc::new(Launcher::new(GuardianProgram::this_program())),
        life,
        documents: DocumentProgram::this_program(),
    }
}

fn with_runtime<T>(
    session: &mut Session<'_>,
    setup: RuntimeSetup,
    signals: Signals,
    question: impl AsyncFnOnce(&dyn Engine, &mut Session<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        let engine = Runtime::open(setup)?;
        ask(&engine, signals, session, question).await
    });
    // What still runs on other threads, such as a lookup of a name, is not waited for.
    runtime.shutdown_background();
    result
}

/// Asks an engine, until somebody wants us to stop, and closes it.
async fn ask<T>(
    engine: &dyn Engine,
    mut signals: Signals,
    session: &mut Session<'_>,
    question: impl AsyncFnOnce(&dyn Engine, &mut Session<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let result = tokio::select! {
        biased;
        signal = signals.first() => Err(Failure::Interrupted(signal)),
        result = question(engine, session) => result,
    };
    session.output.progress(None);
    let mut closing = engine.close();
    if tokio::time::timeout(SILENT_CLOSING, &mut closing)
        .await
        .is_err()
    {
        // What can't be said is not worth losing the login for.
        let _ = session
            .output
            .explain("waiting until everything is saved and all servers have stopped …\n");
        if tokio::time::timeout(CLOSING, closing).await.is_err() {
            tracing::warn!("something did not end in time and is ended by force");
        }
    }
    result
}

/// Waits for an answer, and shows a person that something is going on.
pub(super) async fn answered<T>(
    output: &mut Output,
    what: &str,
    mut pending: Pending<'_, T>,
) -> Result<T, Failure> {
    let mut ticks = tokio::time::interval(TICK);
    let mut number: usize = 0;
    loop {
        tokio::select! {
            biased;
            result = &mut pending => {
                output.progress(None);
                return Ok(result?);
            }
            _ = ticks.tick(), if output.is_watched() => {
                // What is quick needs no words.
                if number > 2 {
                    output.progress(Some(&progress_line(number, what)));
                }
                number += 1;
            }
        }
    }
}

/// Says what is going on, with something that moves.
pub(super) fn progress_line(number: usize, what: &str) -> String {
    // A line that is wrapped could not be wiped off.
    shown_line(&format!("{} {what}", FRAMES[number % FRAMES.len()]), 70)
}

/// Waits until what is going on is worth saying anew.
pub(super) async fn tick() {
    tokio::time::sleep(TICK).await;
}

#[cfg(test)]
pub(super) mod tests {
    use openclaw_config::{Environment, Overrides};

    use openclaw_secrets::Redactor;

    use super::*;
    use crate::commands::canned::Canned;
    use crate::failure::Exit;
    use crate::operation::OperationId;

    /// What a command left.
    pub(crate) struct Run {
        pub(crate) result: Result<Exit, Failure>,
        pub(crate) stdout: String,
        pub(crate) stderr: String,
    }

    /// Does something with a session whose output is kept.
    pub(crate) fn in_session<T>(
        json: bool,
        environment: Environment,
        action: impl FnOnce(&mut Session<'_>) -> T,
    ) -> (T, String, String) {
        let (mut output, stdout, stderr) = Output::kept(json);
        let redactor = Redactor::new();
        let mut session = Session {
            redactor: &redactor,
            environment,
            overrides: Overrides::default(),
            local: false,
            operation: OperationId::new(),
            output: &mut output,
        };
        let result = action(&mut session);
        (result, stdout.text(), stderr.text())
    }

    /// Asks the canned engine, and tells what came of it.
    pub(crate) fn asked(
        json: bool,
        question: impl AsyncFnOnce(&dyn Engine, &mut Session<'_>) -> Result<Exit, Failure>,
    ) -> Run {
        let directory = tempfile::tempdir().unwrap();
        let environment = Environment::new([], None, directory.path());
        let engine = Canned::default();
        let (result, stdout, stderr) = in_session(json, environment, |session| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(ask(&engine, Signals::silent(), session, question))
        });
        assert!(engine.is_closed(), "an engine is closed whatever happens");
        Run {
            result,
            stdout,
            stderr,
        }
    }

    #[test]
    fn an_engine_is_closed_after_a_failure() {
        let run = asked(false, async |_, _| Err(Failure::failed("x", "went wrong")));
        assert!(run.result.is_err());
    }

    #[test]
    fn a_signal_withdraws_the_question_and_closes_the_engine() {
        let directory = tempfile::tempdir().unwrap();
        let environment = Environment::new([], None, directory.path());
        let engine = Canned::default();
        let (result, _, _) = in_session(false, environment, |session| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            let signal = crate::failure::Signal::Terminate;
            let question = async |_: &dyn Engine, _: &mut Session<'_>| {
                std::future::pending::<Result<(), Failure>>().await
            };
            runtime.block_on(ask(&engine, Signals::heard(signal), session, question))
        });
        assert!(matches!(result, Err(Failure::Interrupted(_))), "{result:?}");
        assert!(engine.is_closed());
    }
}
