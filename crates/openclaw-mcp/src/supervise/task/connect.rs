//! Connecting, while somebody may change their mind.

use std::sync::Arc;

use openclaw_mcp_client::{ConnectError, Endpoint, RequestError};
use tokio::time::timeout;

use super::{Asked, Command, Connected, Task, Trouble};
use crate::supervise::catalog::{self, Catalog};
use crate::supervise::state::Status;
use crate::supervise::watch::everything;

impl Task {
    /// Connects, unless somebody does not want that any longer.
    pub(super) async fn connect(&mut self) -> Connected {
        self.has_new_settings = false;
        let setup = (
            self.setup.source.clone(),
            self.setup.connector.clone(),
            self.setup.name.clone(),
            self.setup.redactor.clone(),
        );
        let turns = Arc::clone(&self.turns);
        let connecting = async move {
            let (source, connector, name, redactor) = setup;
            let target = source.target().await.map_err(Trouble::Unresolved)?;
            // Programs take turns, since all at once would slow each other down. Who waits for an
            // address slows nobody down. (An error would mean that the semaphore is closed.)
            let turn = match &target.endpoint {
                Endpoint::Program(_) => Some(turns.acquire().await),
                Endpoint::Address(_) => None,
            };
            let connection = connector.connect(&target).await.map_err(Trouble::Connect)?;
            // Who lists slowly must not keep others from starting.
            drop(turn);
            let (all, none) = (everything(), Catalog::default());
            let listing = catalog::list(&name, &connection, &all, &none, &redactor);
            let reason = match timeout(target.timeouts.connection, listing).await {
                Ok(Ok(catalog)) => return Ok((connection, catalog)),
                // There are servers that greet everybody.
                Ok(Err(RequestError::Unauthorized(unauthorized))) => {
                    connection.close().await;
                    return Err(Trouble::Connect(ConnectError::Unauthorized(unauthorized)));
                }
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
                    // It runs, and needs no place kept for it.
                    self.shared.asked();
                    match command {
                        Command::Stop(reason) => return Connected::Unwanted(reason, done),
                        Command::Hold(reason) => {
                            self.is_held = true;
                            return Connected::Unwanted(reason, done);
                        }
                        Command::Settings(number, setup) => {
                            self.has_new_settings |= self.go_over(number, *setup);
                        }
                        // It is what is being done.
                        Command::Need | Command::Relist => {}
                        Command::Start | Command::Reconnect | Command::Refresh => {
                            self.asked_by_name();
                            self.update(|state| state.status = Status::Connecting);
                        }
                    }
                    let _ = done.send(());
                }
            }
        }
    }
}
