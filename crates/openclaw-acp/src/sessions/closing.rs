//! The end of sessions.

use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{CloseSessionResponse, DeleteSessionResponse, SessionId};
use openclaw_engine::OneSession;
use tokio::time::timeout;

use super::loans;
use super::record::{Record, with_files};
use super::session::Session;
use crate::identifier::Identifier;
use crate::office::Office;
use crate::problems::{being_closed, no_disk, of_failure, soon, unknown_session};

/// How long a turn may take to stop.
pub(super) const STOPPING: Duration = Duration::from_secs(10);
/// How long a session may take to be closed, before whoever opens it again is refused.
const CLOSING: Duration = Duration::from_mins(1);

/// Closes a session: stops its turn, takes back its servers, forgets it. What was said in it is kept. There is
/// always a place for this: it makes room.
pub(crate) fn close(
    office: &Arc<Office>,
    name: &SessionId,
    responder: Responder<CloseSessionResponse>,
) {
    let session = match office.session(name) {
        Ok(session) => session,
        Err(error) => {
            let _ = responder.respond_with_error(error);
            return;
        }
    };
    // From now on nobody finds it, and whoever opens it again waits until it is forgotten.
    session.gone.cancel();
    let desk = Arc::clone(office);
    office.crew.spawn(async move {
        forget(&desk, &session).await;
        let _ = responder.respond(CloseSessionResponse::new());
    });
}

/// Deletes a session and what was said in it.
pub(crate) fn delete(
    office: &Arc<Office>,
    name: SessionId,
    responder: Responder<DeleteSessionResponse>,
) {
    office.answer(
        responder,
        |office| async move { deleted(&office, &name).await },
    );
}

async fn deleted(office: &Office, name: &SessionId) -> Result<DeleteSessionResponse, Error> {
    let id = Identifier::parse(&name.0).ok_or_else(|| unknown_session(name))?;
    let record = match office.peek(&id) {
        Some(session) => {
            stop(office, &session).await;
            let deleted = erased(office, &id, session.record()).await;
            leave(office, &session);
            return deleted;
        }
        None => office.read_record(&id).await,
    };
    let record = record.ok_or_else(|| unknown_session(name))?;
    erased(office, &id, record).await
}

/// Deletes what is kept of a session.
async fn erased(
    office: &Office,
    id: &Identifier,
    record: Record,
) -> Result<DeleteSessionResponse, Error> {
    if let Some(key) = record.key {
        let query = OneSession { agent: None, key };
        match soon(office.engine.delete_session(query)).await {
            // Nothing was said in it.
            Err(failure) if failure.code != "unknown-session" => return Err(of_failure(&failure)),
            Ok(_) | Err(_) => {}
        }
    }
    let (state, id) = (office.state_path().to_owned(), id.clone());
    match with_files(move || Record::remove(&state, &id)).await {
        Some(Err(error)) => Err(Error::into_internal_error(error)),
        Some(Ok(())) => Ok(DeleteSessionResponse::new()),
        None => Err(no_disk()),
    }
}

/// Forgets a session, and waits until nothing more is done for it.
pub(super) async fn forget(office: &Office, session: &Session) {
    stop(office, session).await;
    leave(office, session);
}

/// Waits until a session that is being closed is forgotten, if there is one of this name.
pub(super) async fn forgotten(office: &Office, id: &Identifier) -> Result<(), Error> {
    let closing = office.peek(id).filter(|it| it.gone.is_cancelled());
    let Some(closing) = closing else {
        return Ok(());
    };
    let closed = timeout(CLOSING, closing.closed.cancelled()).await;
    closed.map_err(|_| {
        // Nobody else is held up by it.
        office.leave(&closing);
        being_closed()
    })
}

/// Lets go of a session that nothing more is done for.
fn leave(office: &Office, session: &Session) {
    office.leave(session);
    session.closed.cancel();
}

/// Stops what is done for a session.
async fn stop(office: &Office, session: &Session) {
    session.gone.cancel();
    if timeout(STOPPING, session.turn_ended()).await.is_err() {
        tracing::warn!("a turn does not stop");
    }
    if let Err(failure) = loans::end(office, session).await {
        tracing::warn!(%failure, "the servers of a session can't be taken back");
    }
}
