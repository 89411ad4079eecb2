//! How an argument of a prompt or a template can go on.

use std::time::Duration;

use openclaw_content::shown_line;
use openclaw_mcp_client::CompletionTarget;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::redaction::holds_credential;
use crate::servers::{AgentPlan, Servers};

/// How long a server has to say how an argument goes on: a person is writing.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many values are taken.
const MOST: usize = 100;
/// How long each may be, in characters.
const LONGEST: usize = 500;

impl Servers {
    /// How an argument of a prompt or a variable of a template can go on, as its server says; nothing
    /// if it does not say so soon. Only a server that is ready is asked. The values are the server's
    /// words; those that could not be shown as they are, are left out.
    pub async fn complete(
        &self,
        agent: &AgentPlan,
        session: Option<&str>,
        server: &str,
        target: &CompletionTarget,
        (argument, value): (&str, &str),
        others: Map<String, Value>,
    ) -> Vec<String> {
        let server = agent.server(server).filter(|it| !agent.denies(it.name()));
        let instance = server.and_then(|server| self.instance(server, session));
        let Some(connection) = instance.and_then(|instance| instance.connection()) else {
            return Vec::new();
        };
        if !connection.server().capabilities.completions {
            return Vec::new();
        }
        let asking = connection.complete(target, argument, value, others);
        let Ok(Ok(completion)) = timeout(PATIENCE, asking).await else {
            return Vec::new();
        };
        let is_fit = |value: &String| {
            shown_line(value, LONGEST) == *value && !holds_credential(value, &self.redactor)
        };
        let values = completion.values.into_iter().filter(is_fit);
        values.take(MOST).collect()
    }
}
