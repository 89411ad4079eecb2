//! Running a gateway: everything in place, one line that says so, then waiting for the end.

use std::io::{IsTerminal as _, stdin};
use std::net::SocketAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use openclaw_config::{Config, Gateway};
use openclaw_engine::Engine;
use openclaw_gateway::{BindError, Credential, Followed, GatewaySetup, Occupant};
use openclaw_link::{Listener, NoGateway, Remote};
use openclaw_process::Launcher;
use openclaw_runtime::{Life, Runtime};
use openclaw_state::{FileLock, LockError, StateDirectory, layout};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;
#[cfg(target_os = "linux")]
use tokio_util::task::AbortOnDropHandle;

use super::found::VERSION;
use super::{settings, unit};
use crate::cli::RunOptions;
use crate::commands::Session;
use crate::commands::configuration::usable_config;
use crate::commands::engine::{listen, own_setup};
use crate::failure::{Exit, Failure};
use crate::signals::Signals;

/// How many threads answer at most.
const MOST_WORKERS: usize = 4;
/// How long stopping may take: a server that does not want to go takes five seconds of it.
const STOPPING: Duration = Duration::from_millis(5_900);
/// How much of that is left for what does not go at all.
const LAST: Duration = Duration::from_millis(500);
/// How long a lock is waited for behind which nobody answers.
const BETWEEN: Duration = Duration::from_secs(1);
/// How often it is looked for meanwhile.
const LOOK: Duration = Duration::from_millis(20);

pub(super) fn run(session: &mut Session<'_>, options: &RunOptions) -> Result<Exit, Failure> {
    // Nothing has started a thread yet.
    #[cfg(target_os = "linux")]
    openclaw_process::keep_little_memory();
    // Looked at before they are read: what somebody writes while we start is a change all the same.
    let followed = Followed::now(&session.definitions()?.files());
    let config = usable_config(session)?;
    let gateway = settings::settings(&config)?;
    let address = settings::address(&config.environment, &gateway, options)?;
    let state = session.state()?;
    let signals = listen()?;
    openclaw_process::raise_descriptor_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers())
        .enable_all()
        .build()
        .map_err(|error| Failure::failed("system", format!("cannot begin: {error}")))?;
    let wish = Wish {
        config,
        gateway,
        address,
        followed,
    };
    let served = runtime.block_on(begin(session, wish, state, signals));
    // What still runs on other threads, such as a lookup of a name, is not waited for.
    runtime.shutdown_background();
    served
}

/// How many threads answer: as many as half of the cores, since the servers need the others. On two cores
/// two threads get less done than one, which has nobody to wake.
fn workers() -> usize {
    let cores = available_parallelism().map_or(1, NonZero::get);
    (cores / 2).clamp(1, MOST_WORKERS)
}

/// What is to run, and where.
struct Wish {
    config: Config,
    gateway: Gateway,
    address: SocketAddr,
    /// The files of the configuration, as they were before it was read.
    followed: Followed,
}

/// Puts everything into its place, what can fail before what others would notice, and serves.
async fn begin(
    session: &mut Session<'_>,
    wish: Wish,
    state: StateDirectory,
    mut signals: Signals,
) -> Result<Exit, Failure> {
    // Held until everything has ended: whoever has it is the gateway of this directory.
    let _alone = alone(&state).await?;
    let Wish {
        config,
        gateway,
        address,
        followed,
    } = wish;
    let path = session.location()?.config.display().to_string();
    let setup = own_setup(session, config, state.clone(), Life::Gateway)?;
    let launcher = Arc::clone(&setup.launcher);
    let found = tokio::select! {
        biased;
        // What is waited for may be the answer of somebody who gives none.
        signal = signals.first() => {
            tracing::info!("the gateway stops before it has begun: {signal:?}");
            launcher.close().await;
            return Ok(Exit::Done);
        }
        found = find(session, &setup.config, &gateway, &state, &launcher, address) => found,
    };
    let Found { http, credential } = found?;
    let address = http.local_addr().unwrap_or(address);
    let engine = Arc::new(Runtime::open(setup)?);
    engine.serves_at(url(address));
    let socket = Listener::bind(state.path()).map_err(|error| {
        let path = state.path().join(layout::GATEWAY_SOCKET);
        let message = format!("cannot listen at {}: {error}", path.display());
        Failure::failed("gateway", message)
    });
    let files = Arc::clone(&engine);
    let stop = CancellationToken::new();
    let mut serving = JoinSet::new();
    #[cfg(target_os = "linux")]
    let _resting = AbortOnDropHandle::new(tokio::spawn(openclaw_process::give_back_when_quiet()));
    let served = async {
        serving.spawn(openclaw_gateway::serve(GatewaySetup {
            engine: engine.clone(),
            http,
            socket: socket?,
            credential,
            allowed_hosts: gateway.allowed_hosts,
            public_url: gateway.public_url,
            answers_mebibytes: openclaw_gateway::ANSWERS_MEBIBYTES,
            configuration_files: Box::new(move || files.configuration_files()),
            followed,
            config: path,
            version: VERSION,
            stop: stop.clone(),
        }));
        tell_ready(session, address)?;
        until_stopped(&mut serving, &engine, signals, &stop).await
    };
    let served = served.await;
    stop.cancel();
    unit::notify("STOPPING=1");
    close(serving, &engine, &launcher).await;
    served
}

/// What has to be had from others before anything can begin.
struct Found {
    http: TcpListener,
    credential: Credential,
}

async fn find(
    session: &Session<'_>,
    config: &Arc<Config>,
    gateway: &Gateway,
    state: &StateDirectory,
    launcher: &Arc<Launcher>,
    address: SocketAddr,
) -> Result<Found, Failure> {
    let http = openclaw_gateway::bind(address).await;
    let http = http.map_err(|error| not_bound(&error))?;
    let is_loopback = http.local_addr().unwrap_or(address).ip().is_loopback();
    let credential = settings::credential(session, config, gateway, state, launcher, is_loopback);
    Ok(Found {
        http,
        credential: credential.await?,
    })
}

/// Waits until somebody wants us to stop; that nobody is served any longer is a failure.
async fn until_stopped(
    serving: &mut JoinSet<()>,
    engine: &Arc<Runtime>,
    mut signals: Signals,
    stop: &CancellationToken,
) -> Result<Exit, Failure> {
    let mut hang_ups = signals.hang_ups();
    // For good: whoever ends a session hangs up on everybody, those who are about to stop included.
    hang_ups.catch_for_good();
    let has_terminal = stdin().is_terminal();
    // One at a time, and beside everything else: a disk may take its time.
    let mut reloads = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            signal = signals.first() => {
                tracing::info!("the gateway stops: {signal:?}");
                return Ok(Exit::Done);
            }
            () = stop.cancelled() => {
                tracing::info!("the gateway stops: somebody asked for it");
                return Ok(Exit::Done);
            }
            Some(ended) = serving.join_next() => {
                let reason = ended.err().map(|error| format!(": {error}"));
                let message = format!("nobody is served any longer{}", reason.unwrap_or_default());
                return Err(Failure::failed("gateway", message));
            }
            () = hang_ups.next() => {
                // The terminal that it was started in is gone, and nobody could stop it any more.
                if has_terminal && !stdin().is_terminal() {
                    tracing::info!("the gateway stops: its terminal is gone");
                    return Ok(Exit::Done);
                }
                if reloads.is_empty() {
                    let engine = Arc::clone(engine);
                    reloads.spawn(async move { reload(&*engine).await });
                }
            }
            Some(_) = reloads.join_next() => {}
        }
    }
}

/// Ends everything: whoever is being served has a moment, and the servers are asked to leave meanwhile.
async fn close(mut serving: JoinSet<()>, engine: &Runtime, launcher: &Launcher) {
    let until = Instant::now() + STOPPING;
    let ending = async {
        let served = async { while serving.join_next().await.is_some() {} };
        tokio::join!(served, engine.close())
    };
    if timeout_at(until - LAST, ending).await.is_err() {
        tracing::warn!("something did not end in time and is ended by force");
    }
    // What was still being started is not known to be a server yet.
    if timeout_at(until, launcher.close()).await.is_err() {
        tracing::warn!("some programs are left to the guardian");
    }
}

/// Reads the configuration anew; the log says what came of it.
async fn reload(engine: &dyn Engine) {
    match engine.reload().await {
        Ok(report) => {
            tracing::info!(
                added = report.added.len(),
                changed = report.changed.len(),
                removed = report.removed.len(),
                "the configuration was read anew"
            );
            for warning in &report.warnings {
                tracing::warn!("{warning}");
            }
        }
        Err(failure) => {
            tracing::error!("the configuration can't be used, nothing was changed: {failure}");
        }
    }
}

/// Makes sure that this is the only gateway of the state directory. The lock of one that was killed was
/// freed with it.
async fn alone(state: &StateDirectory) -> Result<FileLock, Failure> {
    let path = state.path().join(layout::GATEWAY_LOCK);
    let until = Instant::now() + BETWEEN;
    loop {
        match FileLock::acquire(&path, Duration::ZERO) {
            Ok(lock) => return Ok(lock),
            Err(LockError::Busy { .. }) => {}
            Err(error @ LockError::Io { .. }) => {
                return Err(Failure::failed("state", error.to_string()));
            }
        }
        let who = match Remote::connect(state.path(), VERSION).await {
            Ok(remote) => {
                let greeting = remote.greeting();
                format!(" at {} (PID {})", greeting.address, greeting.pid)
            }
            // One that begins or ends, or somebody who only looks whether there is one.
            Err(NoGateway::Absent) if Instant::now() < until => {
                sleep(LOOK).await;
                continue;
            }
            // Its lock is all that is known of it.
            Err(_) => String::new(),
        };
        let message = format!("a gateway runs already{who}");
        return Err(Failure::failed("gateway-runs", message)
            .hint("`openclaw gateway stop` stops it; another profile can have its own"));
    }
}

fn not_bound(error: &BindError) -> Failure {
    let failure = Failure::failed("address", error.to_string());
    match error {
        BindError::InUse { occupant, .. } => failure.hint(match occupant {
            Occupant::TypeScript => {
                "stop it with its own `openclaw gateway stop`, or choose another port with `--port`"
            }
            Occupant::Gateway { .. } => {
                "it has another state directory; choose another port with `--port` or `gateway.port`"
            }
            Occupant::Unknown => "choose another port with `--port` or `gateway.port`",
        }),
        BindError::Refused { .. } => failure,
    }
}

/// Says that everything is in place, to whoever looks and to whoever started us.
fn tell_ready(session: &mut Session<'_>, address: SocketAddr) -> Result<(), Failure> {
    let pid = std::process::id();
    let address = url(address);
    let line = format!("gateway ready at {address} (PID {pid})\n");
    session.output.print(&line)?;
    unit::notify(&format!("READY=1\nMAINPID={pid}"));
    tracing::info!("the gateway is ready at {address}");
    Ok(())
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_lock_behind_which_nobody_answers_is_waited_for_but_not_for_long() {
        let directory = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(&directory.path().join("state")).unwrap();
        let lock = state.path().join(layout::GATEWAY_LOCK);
        // As `gateway status` has it for a moment.
        let looking = FileLock::acquire(&lock, Duration::ZERO).unwrap();
        let mut found = std::pin::pin!(alone(&state));
        let waited = tokio::time::timeout(BETWEEN / 2, &mut found).await;
        assert!(waited.is_err(), "it waits");
        drop(looking);
        let held = found.await.unwrap();
        let began = Instant::now();
        let failure = alone(&state).await.unwrap_err();
        assert!(
            format!("{failure:?}").contains("a gateway runs already"),
            "{failure:?}"
        );
        assert!(began.elapsed() < BETWEEN * 2);
        drop(held);
    }
}
