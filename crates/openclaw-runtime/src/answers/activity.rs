//! What happened lately: calls from the audit log, everything else from the observer.

use std::sync::Arc;

use openclaw_engine::{ActivityQuery, ActivityReport, EngineFailure};
use openclaw_mcp::recent_calls;

use crate::elsewhere::elsewhere;
use crate::runtime::Runtime;

impl Runtime {
    pub(super) async fn answer_activity(
        &self,
        query: ActivityQuery,
    ) -> Result<ActivityReport, EngineFailure> {
        let most = query.most();
        let (state, observer) = (self.state.clone(), Arc::clone(&self.observer));
        elsewhere(move || {
            let calls = recent_calls(&state, most).map_err(|error| {
                EngineFailure::operation("audit-log", error.to_string())
                    .hint("the audit log lies in `logs` of the state directory")
            })?;
            Ok(ActivityReport {
                entries: observer.activity(calls, most),
            })
        })
        .await?
    }
}
