//! Following the configuration: when its files change, it is read anew.

mod retrying;
mod stamp;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use openclaw_engine::{Engine, ReloadReport};
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use retrying::Retrying;
use stamp::Stamps;

/// How often the files are looked at.
const LOOK: Duration = Duration::from_millis(500);

/// Which files there are.
type Files = Box<dyn Fn() -> Vec<PathBuf> + Send + Sync>;

/// What files were like before they were read. What changes after that is a change, however early.
pub struct Followed(Stamps);

impl Followed {
    /// What files are like now. Those that turn out to belong to them later count as read by then.
    pub fn now(files: &[PathBuf]) -> Self {
        Self(Stamps::of(files))
    }
}

/// Reads the configuration anew when its files have changed, until all stops.
///
/// The files are looked at, rather than watched by the system: that is right for links that lead
/// elsewhere, for files that are replaced together with their directory, and on disks of other
/// machines, and costs a few calls of the system each time.
///
/// Reading that failed is tried again: the reason may be something that is not in the files.
pub(crate) async fn follow(
    engine: Arc<dyn Engine>,
    files: Files,
    read_before: Followed,
    stop: CancellationToken,
) {
    let files = Arc::new(files);
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // At once, and not when somebody has time: what changes from now on is a change.
    let mut follower = Follower::new(read_before.0.or_else(Stamps::of(&files())));
    let mut retrying = Retrying::default();
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            _ = looks.tick() => {}
        }
        let files = Arc::clone(&files);
        let looking = tokio::task::spawn_blocking(move || Stamps::of(&files()));
        // A disk that does not answer must not keep anybody from stopping.
        let seen = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            seen = looking => seen,
        };
        let Ok(seen) = seen else {
            continue;
        };
        if follower.is_time(seen) {
            retrying.begin_anew();
        } else if follower.is_changing() || !retrying.is_due(Instant::now()) {
            continue;
        }
        // One at a time: the next look comes after it.
        let outcome = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            outcome = engine.reload() => outcome,
        };
        match outcome {
            Ok(report) => {
                retrying = Retrying::default();
                tell(&report);
            }
            Err(failure) => {
                if retrying.failed(failure.to_string(), Instant::now()) {
                    tracing::error!(
                        error = %failure,
                        "the configuration has changed and can't be used; what runs is as it was"
                    );
                }
            }
        }
    }
}

/// What was seen of the files, and when that is a reason to read them.
struct Follower {
    /// What they were like when they were read.
    read: Stamps,
    /// What they were like at the last look, where that was something else.
    changed: Option<Stamps>,
}

impl Follower {
    fn new(read: Stamps) -> Self {
        Self {
            read,
            changed: None,
        }
    }

    /// Whether it is time to read the files: they have changed, and no longer do. A file may be written
    /// in several steps, and what stands in it meanwhile is nobody's configuration.
    fn is_time(&mut self, seen: Stamps) -> bool {
        if seen == self.read {
            self.changed = None;
            return false;
        }
        if self.changed.as_ref() != Some(&seen) {
            self.changed = Some(seen);
            return false;
        }
        self.changed = None;
        self.read = seen;
        true
    }

    /// Whether a change was seen that may go on.
    fn is_changing(&self) -> bool {
        self.changed.is_some()
    }
}

fn tell(report: &ReloadReport) {
    tracing::info!(
        added = report.added.len(),
        changed = report.changed.len(),
        removed = report.removed.len(),
        "the configuration has changed and is in force"
    );
    for warning in &report.warnings {
        tracing::warn!("{warning}");
    }
}
