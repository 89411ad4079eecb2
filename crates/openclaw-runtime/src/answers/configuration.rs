//! The configuration that is in force, and what is wrong with its files now.

use openclaw_engine::{ConfigurationQuery, ConfigurationReport, EngineFailure};

use crate::runtime::Runtime;

/// How many problems are told; whoever has more has one problem.
const MOST_PROBLEMS: usize = 1_000;

impl Runtime {
    pub(super) async fn answer_configuration(
        &self,
        query: ConfigurationQuery,
    ) -> Result<ConfigurationReport, EngineFailure> {
        let plan = self.agent(query.agent.as_deref())?;
        let definitions = self.written_definitions()?;
        let found = definitions.problems(MOST_PROBLEMS).await?;
        let config = self.servers.config();
        Ok(ConfigurationReport {
            file: definitions.location().config.display().to_string(),
            exists: found.exists,
            // After the files were read: credentials that were not known before are hidden.
            configuration: config.show(&plan.agent, &self.redactor),
            problems: found.problems,
            omitted: found.omitted,
            error: self.last_config_error(),
        })
    }
}
