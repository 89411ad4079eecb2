//! How a server of another client stands to the configuration.

use std::sync::Arc;

use openclaw_config::{Config, ConfiguredServer, written_server};
use openclaw_definitions::{NewServer, Recognised, refers_to_keyring};
use serde_json::Value as Json;

use crate::commands::Session;
use crate::commands::mcp::import::Import;
use crate::failure::Failure;

/// How a server stands to the configuration.
pub(super) enum Standing {
    /// It has none of this name.
    New,
    /// It has the very same.
    Same,
    /// It has another of this name.
    Other,
    /// It has one of this name, and whether that is the same can't be told for this reason.
    Unknown(String),
}

impl Import<'_> {
    /// How a server stands to the one of its name that the configuration has.
    ///
    /// What is written counts, not just what it means here and now: a variable that is not set
    /// makes no other server of it.
    pub(super) async fn standing(
        &mut self,
        session: &mut Session<'_>,
        trial: &Config,
        server: &NewServer,
    ) -> Result<Standing, Failure> {
        let name = server.name.as_str();
        let standing = self.standing_of(trial, name);
        if !matches!(standing, Standing::Other) {
            return Ok(standing);
        }
        let Some(written) = written_server(&session.location()?, &server.name) else {
            return Ok(standing);
        };
        if Json::Object(server.entry.0.clone()) == written {
            return Ok(Standing::Same);
        }
        // The same credentials may be in the keyring by now.
        if !refers_to_keyring(&server.entry, &written) {
            return Ok(standing);
        }
        let keyring = self.keyring(session).await?;
        let mut waiting = keyring.patience.with(session.output);
        let recognised = keyring.keeper.recognised(server, &written, &mut waiting);
        let recognised = recognised.await;
        let entry = match recognised.map_err(|error| keyring.patience.failure(error))? {
            Recognised::Entry(entry) => entry,
            Recognised::Unknown(reason) => return Ok(Standing::Unknown(reason)),
        };
        if Json::Object(entry.0.clone()) == written {
            return Ok(Standing::Same);
        }
        let recognised = NewServer {
            name: server.name.clone(),
            entry,
        };
        let trial = self.definitions.judged(&recognised, &self.known).await?;
        Ok(self.standing_of(&trial.config, name))
    }

    fn standing_of(&self, trial: &Config, name: &str) -> Standing {
        let named = |server: &&Arc<ConfiguredServer>| server.name.as_str() == name;
        let new = trial.servers().find(named);
        let mut there = self.known.servers().filter(named).peekable();
        if there.peek().is_none() {
            return Standing::New;
        }
        let is_same = |server: &Arc<ConfiguredServer>| {
            new.is_some_and(|new| {
                server.enabled == new.enabled && server.definition == new.definition
            })
        };
        if there.all(is_same) {
            Standing::Same
        } else {
            Standing::Other
        }
    }
}
