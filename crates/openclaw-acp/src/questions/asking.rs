//! What a server wants to know.

use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CreateElicitationRequest, ElicitationAction, ElicitationCapabilities, ElicitationFormMode,
    ElicitationMode, ElicitationSessionScope, ElicitationUrlMode, SessionId,
};
use openclaw_content::{shown_line, shown_text};
use openclaw_engine::{Asks, FormField, ServerAnswer, ServerQuestion};
use serde_json::Map;

use super::form;
use crate::identifier::Identifier;

/// How long the name of a server may be, in characters.
const NAME: usize = 100;

/// What came of a question.
pub(crate) enum Answered {
    /// An answer that the server can be given.
    Fits(ServerAnswer),
    /// One that does not fit, and why, for the person.
    Unfit(String),
}

/// Asks a person what a server wants to know. The question is withdrawn when this is dropped.
pub(crate) async fn ask(
    connection: &ConnectionTo<Client>,
    session: &SessionId,
    shows: &ElicitationCapabilities,
    question: ServerQuestion,
) -> Answered {
    let Some(mode) = mode(session, shows, &question.asks) else {
        return Answered::Fits(ServerAnswer::Decline);
    };
    let server = shown_line(&question.server, NAME);
    // A person has to know who asks, whatever the server says.
    let message = format!(
        "The server {server} asks: {}",
        shown_text(&question.message)
    );
    let request = CreateElicitationRequest::new(mode, message);
    let action = match connection.send_request(request).block_task().await {
        Ok(response) => response.action,
        Err(error) => {
            tracing::debug!(%error, "nobody answers a server");
            return Answered::Fits(ServerAnswer::Cancel);
        }
    };
    let fields: &[FormField] = match &question.asks {
        Asks::Form { fields } => fields,
        Asks::Visit { .. } => &[],
    };
    match action {
        ElicitationAction::Accept(accepted) => {
            match form::filled_in(fields, accepted.content.unwrap_or_default()) {
                Ok(values) => Answered::Fits(ServerAnswer::Accept(values)),
                Err(reason) => Answered::Unfit(format!(
                    "The answer can't be given to the server {server}: {reason}"
                )),
            }
        }
        ElicitationAction::Decline => Answered::Fits(ServerAnswer::Decline),
        _ => Answered::Fits(ServerAnswer::Cancel),
    }
}

/// How a question is shown; not at all, if the editor can't.
fn mode(
    session: &SessionId,
    shows: &ElicitationCapabilities,
    asks: &Asks,
) -> Option<ElicitationMode> {
    let scope = ElicitationSessionScope::new(session.clone());
    match asks {
        Asks::Form { fields } if shows.supports_form() => {
            let form = ElicitationFormMode::new(scope, form::schema(fields));
            Some(ElicitationMode::Form(form))
        }
        Asks::Visit { url } if shows.supports_url() => {
            let id = Identifier::random().ok()?.to_string();
            let visit = ElicitationUrlMode::new(scope, id, url.clone());
            Some(ElicitationMode::Url(visit))
        }
        Asks::Form { .. } | Asks::Visit { .. } => None,
    }
}

/// What was filled in, by the names of the fields.
pub(super) type FilledIn = Map<String, serde_json::Value>;
