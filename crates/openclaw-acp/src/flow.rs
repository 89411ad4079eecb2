//! How much may be on its way to an editor.
//!
//! What the protocol is handed waits without limit until it is written. So updates are handed over only as
//! fast as the editor reads them: there is room for so many bytes, and what was written makes room again.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{SessionId, SessionNotification, SessionUpdate};
use memchr::memmem;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

/// How long an editor may read nothing while somebody waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// How many bytes of updates may be on their way.
const ROOM: u32 = 1024 * 1024;
/// How an update begins on its line, within so many bytes.
const UPDATE: &[u8] = b"\"method\":\"session/update\"";
const BEGINNING: usize = 100;

/// The editor can't be told anything any more, or does not read it.
#[derive(Debug)]
pub(crate) struct Gone;

/// What is on its way.
pub(crate) struct Flow {
    room: Semaphore,
    /// The room that each update takes which was handed over and not written, in their order.
    on_the_way: Mutex<VecDeque<u32>>,
    /// How many lines were written.
    lines: watch::Sender<u64>,
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            room: Semaphore::new(ROOM as usize),
            on_the_way: Mutex::default(),
            lines: watch::Sender::new(0),
        }
    }
}

impl Flow {
    /// Tells an editor of something, as soon as there is room for about so many bytes; nothing is told if it
    /// reads nothing for too long.
    pub(crate) async fn send(
        &self,
        connection: &ConnectionTo<Client>,
        session: &SessionId,
        update: SessionUpdate,
        bytes: usize,
    ) -> Result<(), Gone> {
        let sent = self.send_at_leisure(connection, session, update, bytes);
        timeout(PATIENCE, sent).await.map_err(|_| Gone)?
    }

    /// The same, for those who watch the clock themselves: a turn goes on while its editor reads nothing, until
    /// too much waits.
    pub(crate) async fn send_at_leisure(
        &self,
        connection: &ConnectionTo<Client>,
        session: &SessionId,
        update: SessionUpdate,
        bytes: usize,
    ) -> Result<(), Gone> {
        let bytes = u32::try_from(bytes).unwrap_or(ROOM).clamp(1, ROOM);
        let room = self.room.acquire_many(bytes).await.map_err(|_| Gone)?;
        // The order here is the order there: both are taken under one lock.
        let mut on_the_way = self
            .on_the_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let notification = SessionNotification::new(session.clone(), update);
        connection
            .send_notification(notification)
            .map_err(|_| Gone)?;
        room.forget();
        on_the_way.push_back(bytes);
        Ok(())
    }

    /// How many lines were written, from now on.
    pub(crate) fn lines(&self) -> watch::Receiver<u64> {
        self.lines.subscribe()
    }

    /// A line was written.
    pub(crate) fn written(&self, line: &str) {
        self.lines.send_modify(|count| *count += 1);
        let beginning = line.as_bytes();
        let beginning = beginning.get(..BEGINNING).unwrap_or(beginning);
        if memmem::find(beginning, UPDATE).is_none() {
            return;
        }
        let mut on_the_way = self
            .on_the_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = on_the_way.pop_front() {
            self.room.add_permits(bytes as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use agent_client_protocol::v1::schema::SessionInfoUpdate;
    use agent_client_protocol::{Agent, Lines};
    use futures_util::{sink, stream};
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_editor_that_does_not_read_is_not_waited_for() {
        let flow = Flow::default();
        flow.room.forget_permits(ROOM as usize);
        let nobody = sink::unfold((), async |(), _: String| Ok::<_, io::Error>(()));
        let lines = Lines::new(nobody, stream::pending::<io::Result<String>>());
        let sending = async move |connection: ConnectionTo<Client>| {
            let begun = Instant::now();
            let update = SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new());
            let session = SessionId::new("x");
            let sent = flow.send(&connection, &session, update, 1);
            assert!(sent.await.is_err());
            assert!(begun.elapsed() >= PATIENCE);
            Ok(())
        };
        Agent.v1().connect_with(lines, sending).await.unwrap();
    }
}
