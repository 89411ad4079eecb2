//! How a server of another client stands to the configuration.

use std::sync::Arc;

use openclaw_config::{Config, ConfiguredServer, written_server};
use serde_json::Value as Json;

use crate::attendant::Attendant;
use crate::credentials::refers_to_keyring;
use crate::failure::DefinitionError;
use crate::importing::Import;
use crate::keeping::Recognised;
use crate::typed::NewServer;

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
        trial: &Config,
        server: &NewServer,
        attendant: &mut impl Attendant,
    ) -> Result<Standing, DefinitionError> {
        let name = server.name.as_str();
        let standing = self.standing_of(trial, name);
        if !matches!(standing, Standing::Other) {
            return Ok(standing);
        }
        let wanted = server.name.clone();
        let definitions = &self.definitions;
        let written = definitions.elsewhere(move |it| written_server(it.location(), &wanted));
        let Some(written) = written.await? else {
            return Ok(standing);
        };
        if Json::Object(server.entry.0.clone()) == written {
            return Ok(Standing::Same);
        }
        // The same credentials may be in the keyring by now.
        if !refers_to_keyring(&server.entry, &written) {
            return Ok(standing);
        }
        let keyring = self.keyring(attendant).await?;
        let recognised = keyring.keeper.recognised(server, &written, attendant);
        let entry = match recognised.await? {
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
