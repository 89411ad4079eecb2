//! Connecting, while somebody may change their mind.

use std::sync::Arc;

use tokio::time::timeout;

use super::{Asked, Command, Connected, Task, Trouble};
use crate::supervise::catalog::{self, Catalog};
use crate::supervise::watch::everything;

impl Task {
    /// Connects, unless somebody does not want that any longer.
    pub(super) async fn connect(&mut self) -> Connected {
        let setup = (
            self.setup.source.clone(),
            self.setup.connector.clone(),
            self.setup.name.clone(),
        );
        let turns = Arc::clone(&self.turns);
        let connecting = async move {
            let (source, connector, name) = setup;
            // An error would mean that the semaphore is closed, which it never is.
            let turn = turns.acquire().await;
            let target = source.target().await.map_err(Trouble::Unresolved)?;
            let connection = connector.connect(&target).await.map_err(Trouble::Connect)?;
            // Who lists slowly must not keep others from starting.
            drop(turn);
            let (all, none) = (everything(), Catalog::default());
            let listing = catalog::list(&name, &connection, &all, &none);
            let reason = match timeout(target.timeouts.connection, listing).await {
                Ok(Ok(catalog)) => return Ok((connection, catalog)),
                Ok(Err(error)) => error.to_string(),
                Err(_) => "it does not say in time what it offers".to_owned(),
            };
            connection.close().await;
            Err(Trouble::Lost(reason))
        };
        tokio::pin!(connecting);
        loop {
            tokio::select! {
                biased;
                connected = &mut connecting => return Connected::Done(connected),
                asked = self.commands.recv() => {
                    let Some(Asked { command, done }) = asked else {
                        return Connected::Alone;
                    };
                    match command {
                        Command::Stop(reason) => return Connected::Unwanted(reason, done),
                        Command::Settings(setup) => self.setup = *setup,
                        // It is what is being done.
                        Command::Need
                        | Command::Start
                        | Command::Reconnect
                        | Command::Refresh => self.shared.asked(),
                    }
                    let _ = done.send(());
                }
            }
        }
    }
}
