//! The gateway that runs.

use std::path::Path;
use std::time::Duration;

use openclaw_engine::Engine as _;
use openclaw_link::{NoGateway, Remote};
use openclaw_state::{FileLock, LockError, layout};
use tokio::time::timeout;

use crate::commands::Session;
use crate::commands::engine::awaited;
use crate::failure::Failure;

/// The version of this program.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// How long a gateway may take to answer what needs no time.
pub(in crate::commands) const PATIENCE: Duration = Duration::from_secs(10);

/// The gateway that has the servers of the configuration, if one runs and may be asked.
pub(in crate::commands) async fn found(session: &Session<'_>) -> Result<Option<Remote>, Failure> {
    if session.local {
        return Ok(None);
    }
    let location = session.location()?;
    let remote = match Remote::connect(&location.state, VERSION).await {
        Ok(remote) => remote,
        Err(NoGateway::Absent) => return Ok(None),
        Err(error) => return Err(not_reached(&error)),
    };
    // Somebody who names another file means what stands there.
    if is_same(Path::new(&remote.greeting().config), &location.config) {
        return Ok(Some(remote));
    }
    tracing::debug!("the gateway reads another configuration, and is not asked");
    Ok(None)
}

/// Whether a gateway is there although nobody answers at its socket: it is starting or stopping.
pub(super) fn is_between(state: &Path) -> bool {
    let lock = state.join(layout::GATEWAY_LOCK);
    lock.exists()
        && matches!(
            FileLock::acquire(&lock, Duration::ZERO),
            Err(LockError::Busy { .. })
        )
}

/// Why a gateway that is there can't be asked.
pub(super) fn not_reached(error: &NoGateway) -> Failure {
    match error {
        NoGateway::Mismatch(theirs) => {
            let message = format!(
                "the gateway that runs is of version {}, and this is {VERSION}: they can't talk to each \
                 other",
                theirs.version
            );
            Failure::failed("gateway-version", message).hint(
                "start the gateway anew, of the version that you want; `--local` does without it",
            )
        }
        error => Failure::failed("gateway-unreachable", error.to_string())
            .hint("`openclaw gateway status` looks at it; `--local` does without it"),
    }
}

/// Has a gateway that runs read the configuration anew, after this command has changed it.
pub(in crate::commands) fn tell_of_changes(session: &mut Session<'_>) -> Result<(), Failure> {
    let told = awaited(async {
        let Some(remote) = found(session).await? else {
            return Ok(());
        };
        let reload = timeout(PATIENCE, remote.reload()).await;
        let reload =
            reload.map_err(|_| Failure::failed("gateway-unreachable", "it does not answer"))?;
        reload.map(drop).map_err(Failure::from)
    })?;
    match told {
        // What was asked for is done: the file is written.
        Err(Failure::Told(told)) => {
            let reason = told.message.replace('\n', "; ");
            let warning = format!("the gateway goes on as it was before: {reason}");
            session.output.warn(&[warning])
        }
        other => other,
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other
        || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
