//! Work that waits for disks.

use openclaw_engine::EngineFailure;
use tracing::Span;

/// Does something on a thread that may wait. It is done whole, also if nobody waits for it any longer.
pub(crate) async fn elsewhere<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, EngineFailure> {
    let span = Span::current();
    let done = tokio::task::spawn_blocking(move || span.in_scope(work));
    done.await
        .map_err(|error| EngineFailure::operation("system", format!("it was not done: {error}")))
}
