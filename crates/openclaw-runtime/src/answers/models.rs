//! Models, and whether they can be asked.

use futures_util::future::join_all;
use openclaw_config::Agent;
use openclaw_engine::{
    AgentReport, Credentials, EngineFailure, ModelReport, ModelsQuery, ModelsReport,
};
use openclaw_models::{ModelCredentials, ModelStanding};

use crate::runtime::Runtime;

impl Runtime {
    pub(super) async fn answer_models(
        &self,
        query: ModelsQuery,
    ) -> Result<ModelsReport, EngineFailure> {
        let config = self.servers.config();
        let asking = config.agents.values().map(async |agent| {
            let standing = self.models.standing(agent, query.ask).await;
            let standing = standing.into_iter();
            standing
                .map(|model| report(agent, model))
                .collect::<Vec<_>>()
        });
        Ok(ModelsReport {
            models: join_all(asking).await.into_iter().flatten().collect(),
        })
    }

    /// An agent at a glance.
    pub(super) async fn agent_report(&self, agent: &Agent) -> AgentReport {
        let standing = self.models.standing(agent, false).await;
        let first = standing.into_iter().find(|model| !model.is_fallback);
        AgentReport {
            id: agent.id.to_string(),
            credentials: first.as_ref().map_or(Credentials::Missing, credentials),
            model: first.map(|model| model.name),
            servers: agent
                .servers
                .iter()
                .map(|server| server.name.to_string())
                .collect(),
        }
    }
}

fn credentials(standing: &ModelStanding) -> Credentials {
    match standing.credentials {
        ModelCredentials::Present => Credentials::Ok,
        ModelCredentials::Missing => Credentials::Missing,
        ModelCredentials::Builtin => Credentials::Builtin,
    }
}

fn report(agent: &Agent, standing: ModelStanding) -> ModelReport {
    let credentials = credentials(&standing);
    let failure = standing
        .error
        .map(|error| EngineFailure::from(openclaw_agent::TurnError::from(error)));
    let (error, hint) = match failure {
        Some(failure) => (Some(failure.message), failure.hint),
        None => (None, None),
    };
    ModelReport {
        agent: agent.id.to_string(),
        model: standing.name,
        is_fallback: standing.is_fallback,
        credentials,
        error,
        hint,
    }
}
