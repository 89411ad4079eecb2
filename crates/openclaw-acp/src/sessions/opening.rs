//! New sessions, and those from earlier.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    LoadSessionRequest, LoadSessionResponse, McpServer, NewSessionRequest, NewSessionResponse,
    ResumeSessionRequest, ResumeSessionResponse, SessionId, SessionModeState,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Client, Error};
use tokio::time::timeout;

use super::closing::{STOPPING, forget, forgotten};
use super::loans::{self, Loan};
use super::record::Record;
use super::replay::replay;
use super::session::Session;
use crate::identifier::Identifier;
use crate::office::Office;
use crate::problems::{refused, unfit, unknown_session};

/// Why a session is not opened after all.
const REPLACED: &str = "the session was closed or opened anew meanwhile";

/// Opens a new session.
pub(crate) fn begin(
    office: &Arc<Office>,
    request: NewSessionRequest,
    responder: Responder<NewSessionResponse>,
    connection: ConnectionTo<Client>,
) {
    let (admitted, held) = match office.admission.admit_with(&request.mcp_servers) {
        Ok(admitted) => admitted,
        Err(error) => return answered(responder.respond_with_error(error)),
    };
    let desk = Arc::clone(office);
    office.crew.spawn(async move {
        let session = match new_session(&desk, &request.cwd) {
            Ok(session) => session,
            Err(error) => return answered(responder.respond_with_error(error)),
        };
        // Whoever asks something now waits for the servers, and not for us.
        let loan = Arc::clone(&session.loan).lock_owned().await;
        let modes = session.mode().state();
        answered(responder.respond(NewSessionResponse::new(session.name.clone()).modes(modes)));
        drop(admitted);
        // Nobody waits for a disk, either.
        desk.keep_record(&session).await;
        let brought = (request.mcp_servers, held);
        loans::settle(&desk, &session, loan, brought, &connection).await;
    });
}

fn new_session(office: &Office, directory: &Path) -> Result<Arc<Session>, Error> {
    let record = Record {
        directory: project(directory)?,
        agent: office.agent.clone(),
        ..Record::default()
    };
    let id = Identifier::random().map_err(Error::into_internal_error)?;
    let (session, _) = office.enter(id, |id, _| Session::new(id, record, None))?;
    Ok(session)
}

/// Opens a session from earlier, and tells what was said in it.
pub(crate) fn load(
    office: &Arc<Office>,
    request: LoadSessionRequest,
    responder: Responder<LoadSessionResponse>,
    connection: ConnectionTo<Client>,
) {
    let earlier = Earlier {
        name: request.session_id,
        directory: request.cwd,
        is_told: true,
    };
    reopen(office, earlier, request.mcp_servers, connection, |modes| {
        let response = modes.map(|modes| LoadSessionResponse::new().modes(modes));
        answered(responder.respond_with_result(response));
    });
}

/// Opens a session from earlier.
pub(crate) fn resume(
    office: &Arc<Office>,
    request: ResumeSessionRequest,
    responder: Responder<ResumeSessionResponse>,
    connection: ConnectionTo<Client>,
) {
    let earlier = Earlier {
        name: request.session_id,
        directory: request.cwd,
        is_told: false,
    };
    reopen(office, earlier, request.mcp_servers, connection, |modes| {
        let response = modes.map(|modes| ResumeSessionResponse::new().modes(modes));
        answered(responder.respond_with_result(response));
    });
}

/// Opens a session from earlier with these servers, and answers with its modes.
fn reopen(
    office: &Arc<Office>,
    earlier: Earlier,
    servers: Vec<McpServer>,
    connection: ConnectionTo<Client>,
    respond: impl FnOnce(Result<SessionModeState, Error>) + Send + 'static,
) {
    let (admitted, held) = match office.admission.admit_with(&servers) {
        Ok(admitted) => admitted,
        Err(error) => return respond(Err(error)),
    };
    let desk = Arc::clone(office);
    office.crew.spawn(async move {
        let (session, loan) = match earlier.open(&desk).await {
            Ok(opened) => opened,
            Err(error) => return respond(Err(error)),
        };
        if earlier.is_told
            && let Err(error) = told(&desk, &session, &connection).await
        {
            // It is as closed as before, or is now.
            drop(loan);
            forget(&desk, &session).await;
            return respond(Err(error));
        }
        respond(Ok(session.mode().state()));
        drop(admitted);
        loans::settle(&desk, &session, loan, (servers, held), &connection).await;
    });
}

/// Tells what was said in a session, for as long as it is open.
async fn told(
    office: &Office,
    session: &Arc<Session>,
    connection: &ConnectionTo<Client>,
) -> Result<(), Error> {
    let replaying = replay(office, session, connection);
    let replayed = session.gone.run_until_cancelled(replaying).await;
    replayed.unwrap_or_else(|| Err(refused(REPLACED)))
}

/// A session from earlier, and where its project is now.
struct Earlier {
    name: SessionId,
    directory: PathBuf,
    /// Whether the editor is told what was said in it.
    is_told: bool,
}

impl Earlier {
    /// Opens it, in place of itself where it is open, and takes its loan into hand.
    async fn open(
        &self,
        office: &Office,
    ) -> Result<(Arc<Session>, tokio::sync::OwnedMutexGuard<Loan>), Error> {
        let directory = project(&self.directory)?;
        let id = Identifier::parse(&self.name.0).ok_or_else(|| unknown_session(&self.name))?;
        forgotten(office, &id).await?;
        let kept = match office.peek(&id) {
            Some(open) => Some(open.record()),
            None => office.read_record(&id).await,
        };
        let mut record = kept.ok_or_else(|| unknown_session(&self.name))?;
        record.directory = directory;
        let (session, replaced) = office.enter(id, |id, open| Session::new(id, record, open))?;
        if let Some(replaced) = replaced {
            replaced.gone.cancel();
            if timeout(STOPPING, replaced.turn_ended()).await.is_err() {
                tracing::warn!("a turn does not stop");
            }
            session.learn_from(&replaced);
        }
        office.keep_record(&session).await;
        let loan = Arc::clone(&session.loan).lock_owned().await;
        Ok((session, loan))
    }
}

/// The directory of a project, as text.
fn project(directory: &Path) -> Result<String, Error> {
    if !directory.is_absolute() {
        return Err(unfit("`cwd` has to be an absolute path"));
    }
    let text = directory.to_str().map(ToOwned::to_owned);
    text.ok_or_else(|| unfit("`cwd` has to be text"))
}

/// An answer was given, or the editor is gone.
fn answered(answer: Result<(), Error>) {
    if let Err(error) = answer {
        tracing::debug!(%error, "an answer can't be given");
    }
}
