//! Looking after a connection.

use std::sync::Arc;
use std::time::SystemTime;

use openclaw_mcp_client::Connection;
use tokio::time::{Instant, sleep_until};

use super::{Asked, Command, End, Task, needed};
use crate::supervise::catalog;
use crate::supervise::watch::{Watch, everything, pending};

impl Task {
    /// Looks after a connection until it ends.
    pub(super) async fn hold(&mut self, connection: &Arc<Connection>) -> End {
        let mut watch = Watch::new(&self.setup);
        let needed = needed(self.setup.source.login());
        tokio::pin!(needed);
        loop {
            watch.listen(connection);
            if let Some(wanted) = watch.next_list() {
                let before = self.publish.borrow().catalog.clone();
                let (name, connection) = (self.setup.name.clone(), connection.clone());
                let redactor = self.setup.redactor.clone();
                watch.listing = Some(Box::pin(async move {
                    catalog::list(&name, &connection, &wanted, &before, &redactor).await
                }));
            }
            let due = watch.due(self.shared.used_at());
            tokio::select! {
                biased;
                reason = connection.closed() => return End::Lost(reason.to_string()),
                reason = &mut needed => return End::NeedsLogin(reason),
                asked = self.commands.recv() => {
                    let Some(asked) = asked else {
                        return End::Alone;
                    };
                    if let Some(end) = self.asked(asked, &mut watch) {
                        return end;
                    }
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
                        }
                    }
                    for done in watch.waiting.drain(..) {
                        let _ = done.send(());
                    }
                }
                beat = pending(&mut watch.beating) => {
                    watch.beating = None;
                    if beat.is_ok() {
                        let now = SystemTime::now();
                        self.update(|state| state.alive_at = Some(now));
                    }
                    if let Some(error) = watch.beaten(beat) {
                        let reason = format!("it gives no sign of life: {error}");
                        return End::Lost(reason);
                    }
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
                    // It may have been used since this was computed.
                    if watch.due(self.shared.used_at()).idle > Instant::now() {
                        continue;
                    }
                    if connection.diagnostics().in_flight == 0 {
                        return End::Unwanted("it was not used".into(), None);
                    }
                    watch.used();
                }
            }
        }
    }
    /// Does what is asked of a server that is ready; the result is the end of that.
    fn asked(&mut self, Asked { command, done }: Asked, watch: &mut Watch) -> Option<End> {
        self.shared.asked();
        match command {
            Command::Need | Command::Start => {}
            Command::Stop(reason) => return Some(End::Unwanted(reason, Some(done))),
            Command::Hold(reason) => {
                self.is_held = true;
                return Some(End::Unwanted(reason, Some(done)));
            }
            Command::Reconnect => {
                self.asked_by_name();
                return Some(End::Again(done));
            }
            Command::Refresh => {
                watch.want(&everything());
                // Whoever asked is told when it is done.
                watch.asking.push(done);
                return None;
            }
            Command::Relist => watch.want(&everything()),
            Command::Settings(number, setup) => {
                if self.go_over(number, *setup) {
                    watch.adjust(&self.setup);
                }
            }
        }
        let _ = done.send(());
        None
    }
}
