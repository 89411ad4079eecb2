//! What can be seen without starting anything.

use openclaw_engine::{EngineFailure, LookQuery, LookReport};
use openclaw_mcp::AgentTool;

use crate::runtime::Runtime;
use crate::unknown::found_server;

impl Runtime {
    pub(super) async fn answer_look(&self, query: LookQuery) -> Result<LookReport, EngineFailure> {
        let agent = self.agent(query.agent.as_deref())?;
        let name = query.server.as_deref();
        // Those as well that wait for somebody to accept them, who has to see them for it.
        let is_meant = |tool: &AgentTool| tool.decision.is_allowed();
        let tools = query
            .tools
            .then(|| self.known_tools(&agent, name, is_meant));
        let Some(name) = name else {
            return Ok(LookReport {
                servers: self.all_servers(&agent).servers,
                tools,
                ..LookReport::default()
            });
        };
        let server = found_server(&agent, name)?;
        if let Some(after) = query.after {
            return Ok(LookReport {
                log: Some(self.log_since(&agent, &server, after)),
                tools,
                ..LookReport::default()
            });
        }
        let details = self.details(&agent, &server).await;
        Ok(LookReport {
            servers: vec![details.report.clone()],
            server: Some(details),
            log: None,
            tools,
        })
    }
}
