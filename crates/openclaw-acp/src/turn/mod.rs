//! A prompt and what is told of its answer.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `prompt` | what was asked, as the engine takes it | how it came in |
//! | `running` | a turn from its beginning to its end | what is told of it |
//! | `audience` | what the engine says and asks meanwhile, passed on | what it means |
//! | `telling` | texts and media, as an editor is told of them | tools |
//! | `calls` | calls of tools, as an editor is told of them | texts |
//! | `places` | files that a call is about | what is in them |
//! | `news` | what was learned of the session, on its way to a disk | how it is kept |
//! | `outbox` | what waits for the editor, within limits | what it means |

mod audience;
mod calls;
mod news;
mod outbox;
mod places;
mod prompt;
mod running;
mod telling;

use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    PromptRequest, PromptResponse, SessionInfoUpdate, SessionUpdate, StopReason,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Client, Error};
use openclaw_content::shown_line;
use openclaw_engine::ReplyRequest;

use crate::notices::{BESIDE, warn};
use crate::office::Office;
use crate::problems::{of_failure, refused, words};
use crate::sessions::{Session, TurnTaken, loans};
use prompt::Message;
use running::{Outcome, Turn};

/// How much of the path of a project an agent is told, in characters.
const PATH: usize = 1000;
/// The code of a failure: the model asked for tools again and again.
const TOO_MANY_ROUNDS: &str = "too-many-rounds";
/// The code of a failure: the model does not answer this.
const REFUSED: &str = "model-refused";

/// Has an agent answer a prompt.
pub(crate) fn begin(
    office: &Arc<Office>,
    request: PromptRequest,
    responder: Responder<PromptResponse>,
    connection: ConnectionTo<Client>,
) {
    let taken = office.session(&request.session_id).and_then(|session| {
        let taken = session.take_turn();
        let taken = taken.ok_or_else(|| refused("the session answers another prompt already"))?;
        let admitted = office.admission.admit_with(&request.prompt)?;
        Ok((session, taken, admitted))
    });
    let (session, taken, admitted) = match taken {
        Ok(taken) => taken,
        Err(error) => {
            // Whoever is gone needs no answer.
            let _ = responder.respond_with_error(error);
            return;
        }
    };
    let desk = Arc::clone(office);
    office.crew.spawn(async move {
        let withdrawn = responder.cancellation();
        let answer = {
            let answering = answer(&desk, &session, &taken, request, &connection);
            let mut answering = Box::pin(answering);
            tokio::select! {
                answer = &mut answering => answer,
                () = withdrawn.cancelled() => {
                    taken.cancelled.cancel();
                    answering.await
                }
            }
        };
        // Whoever has the answer may ask again.
        drop((taken, admitted));
        if let Err(error) = responder.respond_with_result(answer) {
            tracing::debug!(%error, "a prompt can't be answered");
        }
        // Servers that were started for it may have brought prompts along.
        loans::announce_news(&desk, &session, &connection).await;
    });
}

async fn answer(
    office: &Arc<Office>,
    session: &Arc<Session>,
    taken: &TurnTaken,
    request: PromptRequest,
    connection: &ConnectionTo<Client>,
) -> Result<PromptResponse, Error> {
    let message = Message::read(request.prompt, &session.directory)?;
    let cancelled = || Ok(PromptResponse::new(StopReason::Cancelled));
    let turn = Turn::new(office, session, connection);
    let ready = async {
        if session.learn_title(&message.title) {
            turn.learned();
            entitle(office, session, &message.title, connection).await;
        }
        // The agent works with the servers that are being lent.
        loans::settled(office, session, connection).await;
    };
    if taken.cancelled.run_until_cancelled(ready).await.is_none() {
        return cancelled();
    }
    let request = ReplyRequest {
        agent: session.agent(),
        session: session.choice(),
        message: message.text,
        attachments: message.attachments,
        instructions: Some(instructions(session)),
        correlation: office.correlation.clone(),
        ..ReplyRequest::default()
    };
    let outcome = Box::pin(turn.run(request, &taken.cancelled)).await;
    match outcome {
        Outcome::Ended(Ok(report)) if report.cut_off => {
            Ok(PromptResponse::new(StopReason::MaxTokens))
        }
        Outcome::Ended(Ok(_)) => Ok(PromptResponse::new(StopReason::EndTurn)),
        // Whoever has cancelled wants to hear that and nothing else.
        Outcome::Ended(Err(_)) if taken.cancelled.is_cancelled() => cancelled(),
        Outcome::Ended(Err(failure)) => {
            let reason = match &*failure.code {
                TOO_MANY_ROUNDS => StopReason::MaxTurnRequests,
                REFUSED => StopReason::Refusal,
                _ => return Err(of_failure(&failure)),
            };
            let why = words(&failure);
            let telling = warn(office, session, connection, &why);
            match taken.cancelled.run_until_cancelled(telling).await {
                Some(()) => Ok(PromptResponse::new(reason)),
                None => cancelled(),
            }
        }
        Outcome::Cancelled => cancelled(),
    }
}

/// Tells the editor what a session is about.
async fn entitle(
    office: &Office,
    session: &Session,
    title: &str,
    connection: &ConnectionTo<Client>,
) {
    let update = SessionInfoUpdate::new().title(title.to_owned());
    let update = SessionUpdate::SessionInfoUpdate(update);
    // Whoever is gone needs no title.
    let _ = office
        .flow
        .send(connection, &session.name, update, BESIDE)
        .await;
}

/// What the agent is told beside its own instructions.
fn instructions(session: &Session) -> String {
    let directory = session.directory.to_string_lossy();
    let directory = shown_line(&directory, PATH);
    format!(
        "The person works in an editor and reads your answers there, as Markdown. Their project is \
         in the directory {directory}"
    )
}
