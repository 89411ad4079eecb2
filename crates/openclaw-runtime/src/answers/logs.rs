//! What servers write to their standard error.

use std::sync::Arc;

use openclaw_engine::{EngineFailure, LogsQuery, LogsReport, OneServer};
use openclaw_mcp::{AgentPlan, PlannedServer, ServerState};

use crate::runtime::Runtime;

impl Runtime {
    pub(super) async fn answer_logs(&self, query: LogsQuery) -> Result<LogsReport, EngineFailure> {
        let LogsQuery {
            agent,
            server,
            after,
        } = query;
        let one = OneServer { agent, server };
        let (agent, server) = self.one(&one)?;
        let names = [server.name().to_owned()];
        self.servers.start(&agent, Some(&names)).await;
        Ok(self.log_since(&agent, &server, after))
    }

    /// What a server wrote after the line of this number.
    pub(super) fn log_since(
        &self,
        agent: &AgentPlan,
        server: &Arc<PlannedServer>,
        after: u64,
    ) -> LogsReport {
        let view = self.servers.view_one(agent, server);
        let lines = view.state.as_ref().map(ServerState::stderr);
        let lines = lines.unwrap_or_default();
        let new = lines.iter().filter(|line| line.number > after);
        LogsReport {
            server: server.name().to_owned(),
            lines: new
                .map(|line| self.redactor.redact(&line.text).into_owned())
                .collect(),
            last: lines.last().map_or(0, |line| line.number),
        }
    }
}
