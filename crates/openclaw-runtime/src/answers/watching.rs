//! What happened so far, and what happens from now on.

use std::sync::Arc;

use openclaw_engine::{
    EngineEvent, EngineFailure, OfServer, Pending, ServersReport, ShownState, StatisticsReport,
    Watcher,
};
use openclaw_mcp::{Standing, UnknownAgent};
use tokio::sync::broadcast::error::RecvError;

use crate::report::shown;
use crate::runtime::Runtime;
use crate::unknown::found_server;

impl Runtime {
    pub(super) fn answer_statistics(&self) -> StatisticsReport {
        self.observer.statistics(|server| self.state_of(server))
    }

    pub(super) fn answer_watch<'a>(&'a self, watcher: &'a dyn Watcher) -> Pending<'a, ()> {
        // From now on, and not from when somebody first waits for it.
        let mut events = self.observer.watch();
        Box::pin(async move {
            loop {
                match events.recv().await {
                    Ok(event) => watcher.hear(Arc::unwrap_or_clone(event)),
                    Err(RecvError::Lagged(count)) => watcher.hear(EngineEvent::Missed { count }),
                    Err(RecvError::Closed) => return Ok(()),
                }
            }
        })
    }

    pub(super) async fn answer_refresh(
        &self,
        query: OfServer,
    ) -> Result<ServersReport, EngineFailure> {
        let mut warnings = Vec::new();
        // Whoever asks for everything means what is written now. A file that can't be used is no reason
        // to leave the servers as they are.
        if query.server.is_none()
            && self.definitions.is_some()
            && let Err(failure) = self.answer_reload().await
        {
            let message = failure.message;
            warnings.push(format!("the configuration can't be used: {message}"));
        }
        let agent = self.agent(query.agent.as_deref())?;
        let servers = match &query.server {
            Some(name) => vec![found_server(&agent, name)?],
            None => agent.servers().cloned().collect(),
        };
        self.servers.refresh_all(&agent, &servers).await;
        let mut report = self.all_servers(&agent);
        if let Some(name) = &query.server {
            report.servers.retain(|server| server.name == *name);
        }
        report.warnings = warnings;
        Ok(report)
    }

    /// How a server is: the worst of what it is for the agents that may use it. Each may have another
    /// definition of the same name.
    fn state_of(&self, server: &str) -> ShownState {
        let config = self.servers.config();
        let (mut worst, mut rank) = (ShownState::Disabled, (false, 0));
        for agent in config.agents.keys() {
            let plan: Result<_, UnknownAgent> = self.servers.agent(Some(agent.as_str()));
            let Ok(plan) = plan else {
                continue;
            };
            let Some(planned) = plan.server(server) else {
                continue;
            };
            let view = self.servers.view_one(&plan, planned);
            let (seen, _) = shown(&view);
            // How it is for an agent that must not use it counts only where there is no other.
            let is_usable = !matches!(view.standing, Standing::Disabled | Standing::Denied);
            let seen_rank = (is_usable, badness(seen));
            if seen_rank > rank {
                (worst, rank) = (seen, seen_rank);
            }
        }
        worst
    }
}

/// How bad a state is: what a person has to mend is worse than what passes, and what nobody uses is no
/// reason to say less about what somebody does.
fn badness(state: ShownState) -> u8 {
    match state {
        ShownState::Disabled => 0,
        ShownState::Stopped => 1,
        ShownState::Ready => 2,
        ShownState::Connecting => 3,
        ShownState::Restarting => 4,
        ShownState::NeedsAuth => 5,
        ShownState::Failed => 6,
    }
}
