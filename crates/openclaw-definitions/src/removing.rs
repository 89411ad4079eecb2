//! A server that is gone, and the logins to it.

use std::collections::BTreeSet;

use openclaw_config::Config;
use openclaw_engine::{Engine, EngineFailure, OneServer};
use openclaw_render::{logged_out, name};
use url::Url;

use crate::definitions::Definitions;

/// What became of the logins to a server that is no longer there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedOut {
    /// What was given up: a line each.
    pub lines: Vec<String>,
    /// What was not, and why.
    pub warnings: Vec<String>,
}

impl Definitions {
    /// For each address that a server had before and has no more, an agent that used it there.
    pub async fn users_of_the_gone(
        &self,
        before: &Config,
        name: &str,
    ) -> Result<Vec<String>, EngineFailure> {
        let after = self.elsewhere(|it| it.load().config).await?;
        Ok(users_of_the_gone(before, after.as_ref(), name))
    }
}

fn users_of_the_gone(before: &Config, after: Option<&Config>, name: &str) -> Vec<String> {
    let after = after.into_iter().flat_map(|it| addresses(it, name));
    let mut known: BTreeSet<Url> = after.map(|(address, _)| address.clone()).collect();
    let gone = addresses(before, name).filter(|(address, _)| known.insert((*address).clone()));
    gone.map(|(_, agent)| agent.to_owned()).collect()
}

/// The addresses of a server, each with an agent that uses it there.
fn addresses<'c>(config: &'c Config, name: &str) -> impl Iterator<Item = (&'c Url, &'c str)> {
    config.agents.values().filter_map(move |agent| {
        let address = agent.servers.get(name)?.address.as_ref()?;
        Some((address, agent.id.as_str()))
    })
}

/// Gives up the logins of these agents to a server that is no longer there; nobody else would. The
/// engine is one that still has it.
pub async fn log_out(engine: &dyn Engine, agents: Vec<String>, server: &str) -> LoggedOut {
    let mut outcome = LoggedOut::default();
    for agent in agents {
        let query = OneServer {
            agent: Some(agent),
            server: server.to_owned(),
        };
        match engine.logout(query).await {
            Ok(report) if report.was_logged_in => {
                let line = logged_out(&report);
                outcome.lines.push(line.trim_end().to_owned());
            }
            Ok(_) => {}
            Err(failure) => {
                let warning = not_logged_out(server, &failure.message, failure.hint.as_deref());
                outcome.warnings.push(warning);
            }
        }
    }
    outcome
}

/// The warning about a login that was not given up. The definition is deleted, whatever becomes of it.
pub fn not_logged_out(server: &str, message: &str, hint: Option<&str>) -> String {
    let hint = hint.map_or(String::new(), |hint| format!(" ({hint})"));
    let server = name(server);
    format!("the login to {server} was not given up: {message}{hint}")
}
