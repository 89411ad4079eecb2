//! Tasks, and their end.

use std::time::Duration;

use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// How long tasks may take to be dropped.
const FAREWELL: Duration = Duration::from_secs(2);

/// The tasks that work for an editor.
#[derive(Default)]
pub(crate) struct Crew {
    tasks: TaskTracker,
    ended: CancellationToken,
}

impl Crew {
    /// Begins a task.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let ended = self.ended.clone();
        self.tasks.spawn(async move {
            ended.run_until_cancelled(task).await;
        });
    }

    /// Ends all tasks when it is dropped.
    pub(crate) fn ends_with_this(&self) -> DropGuard {
        self.ended.clone().drop_guard()
    }

    /// Ends all tasks, and waits for that.
    pub(crate) async fn end(&self) {
        self.ended.cancel();
        self.tasks.close();
        let _ = timeout(FAREWELL, self.tasks.wait()).await;
    }
}
