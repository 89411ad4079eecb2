//! Looking after a connection.

use std::sync::Arc;
use std::time::SystemTime;

use openclaw_mcp_client::Connection;
use tokio::time::sleep_until;

use super::{Asked, Command, End, Task};
use crate::supervise::catalog;
use crate::supervise::watch::{Watch, everything, pending};

impl Task {
    /// Looks after a connection until it ends.
    pub(super) async fn hold(&mut self, connection: &Arc<Connection>) -> End {
        let mut watch = Watch::new(&self.setup);
        loop {
            watch.listen(connection);
            if let Some(wanted) = watch.next_list() {
                let before = self.publish.borrow().catalog.clone();
                let (name, connection) = (self.setup.name.clone(), connection.clone());
                watch.listing = Some(Box::pin(async move {
                    catalog::list(&name, &connection, &wanted, &before).await
                }));
            }
            let due = watch.due(self.shared.used_at());
            tokio::select! {
                biased;
                reason = connection.closed() => return End::Lost(reason.to_string()),
                asked = self.commands.recv() => {
                    let Some(Asked { command, done }) = asked else {
                        return End::Alone;
                    };
                    self.shared.asked();
                    match command {
                        Command::Need | Command::Start => {}
                        Command::Stop(reason) => return End::Unwanted(reason, Some(done)),
                        Command::Reconnect => {
                            let _ = done.send(());
                            return End::Again;
                        }
                        Command::Refresh => watch.want(&everything()),
                        Command::Settings(setup) => {
                            self.setup = *setup;
                            watch.adjust(&self.setup);
                        }
                    }
                    let _ = done.send(());
                }
                listed = pending(&mut watch.listing) => {
                    watch.listing = None;
                    match listed {
                        Ok(catalog) => self.listed(catalog),
                        // A server that is busy with a call may have no time for lists; one that
                        // is gone is noticed otherwise.
                        Err(error) => {
                            let server = &self.setup.name;
                            tracing::warn!(server, "what it offers was not listed again: {error}");
                            self.update(|state| state.listings += 1);
                        }
                    }
                }
                beat = pending(&mut watch.beating) => {
                    watch.beating = None;
                    if let Some(error) = watch.beaten(beat) {
                        let reason = format!("it gives no sign of life: {error}");
                        return End::Lost(reason);
                    }
                    let now = SystemTime::now();
                    self.update(|state| state.alive_at = Some(now));
                }
                changes = pending(&mut watch.changing) => {
                    watch.changing = None;
                    if let Ok(changes) = changes {
                        watch.want(&changes);
                    }
                }
                () = sleep_until(due.discovery) => {
                    if connection.diagnostics().in_flight == 0 {
                        watch.want(&everything());
                    } else {
                        watch.postpone();
                    }
                }
                () = sleep_until(due.healthy), if self.failures > 0 => {
                    self.failures = 0;
                    self.update(|state| state.failures = 0);
                }
                () = sleep_until(due.beat) => {
                    let is_used = connection.diagnostics().in_flight > 0;
                    watch.beat(connection, is_used);
                }
                () = sleep_until(due.idle) => {
                    if connection.diagnostics().in_flight == 0 {
                        return End::Unwanted("it was not used".into(), None);
                    }
                    watch.used();
                }
            }
        }
    }
}
