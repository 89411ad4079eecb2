//! How a server of another client stands to the configuration.

use std::sync::Arc;

use openclaw_config::{Config, ConfiguredServer};

use crate::commands::Session;
use crate::commands::mcp::credentials::referred;
use crate::commands::mcp::entry::NewServer;
use crate::commands::mcp::import::{Import, LookedFor};
use crate::commands::mcp::trial;
use crate::failure::Failure;

/// How a server stands to the configuration.
pub(super) enum Standing {
    /// It has none of this name.
    New,
    /// It has the very same.
    Same,
    /// It has another of this name.
    Other,
}

impl Import<'_> {
    /// How a server stands to the one of its name that the configuration has.
    pub(super) fn standing(
        &mut self,
        session: &Session<'_>,
        trial: &Config,
        server: &NewServer,
    ) -> Result<Standing, Failure> {
        let standing = self.standing_of(trial, server.name.as_str());
        if !matches!(standing, Standing::Other) {
            return Ok(standing);
        }
        // The same credentials may be in the keyring by now.
        let name = server.name.as_str();
        let has_references = referred(&self.known).iter().any(|it| it.server == name);
        if !has_references {
            return Ok(standing);
        }
        self.look_for_keyring(session, server)?;
        let LookedFor::Keyring(keeper) = &self.keyring else {
            return Ok(standing);
        };
        let recognised = NewServer {
            name: server.name.clone(),
            entry: keeper.recognised(server)?,
        };
        let trial = trial::judged(session, &recognised, &self.known)?;
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
