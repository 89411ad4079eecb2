//! What the protocol asks of us.
//!
//! Everything here runs between two messages, so nothing waits: whatever takes time becomes a task.

use std::io;
use std::sync::Arc;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, AuthenticateRequest, AuthenticateResponse, CancelNotification,
    CloseSessionRequest, DeleteSessionRequest, Implementation, InitializeRequest,
    InitializeResponse, ListSessionsRequest, LoadSessionRequest, McpCapabilities,
    NewSessionRequest, PromptCapabilities, PromptRequest, ResumeSessionRequest,
    SessionCapabilities, SessionCloseCapabilities, SessionDeleteCapabilities,
    SessionListCapabilities, SessionResumeCapabilities, SetSessionModeRequest,
    SetSessionModeResponse,
};
use agent_client_protocol::{Agent, Error, Lines, on_receive_notification, on_receive_request};
use futures_util::{Sink, Stream};

use crate::office::Office;
use crate::sessions::{self, Mode};
use crate::turn;

/// Answers an editor until nothing more comes in.
pub(crate) async fn connect(
    office: Arc<Office>,
    version: &'static str,
    lines: Lines<
        impl Sink<String, Error = io::Error> + Send + 'static,
        impl Stream<Item = io::Result<String>> + Send + 'static,
    >,
) -> Result<(), Error> {
    let greeting = Arc::clone(&office);
    let (new, load, resume) = (office.clone(), office.clone(), office.clone());
    let (close, delete, list) = (office.clone(), office.clone(), office.clone());
    let (mode, prompt, cancel) = (office.clone(), office.clone(), office);
    let agent = Agent
        .v1()
        .name("openclaw")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _| {
                greeting.greet(request.client_capabilities);
                responder.respond(introduction(version))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            // Nobody has to: models and servers know us by what is configured.
            async move |_: AuthenticateRequest, responder, _| {
                responder.respond(AuthenticateResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, connection| {
                sessions::begin(&new, request, responder, connection);
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder, connection| {
                sessions::load(&load, request, responder, connection);
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ResumeSessionRequest, responder, connection| {
                sessions::resume(&resume, request, responder, connection);
                Ok(())
            },
            on_receive_request!(),
        );
    agent
        .on_receive_request(
            async move |request: CloseSessionRequest, responder, _| {
                sessions::close(&close, &request.session_id, responder);
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: DeleteSessionRequest, responder, _| {
                sessions::delete(&delete, request.session_id, responder);
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ListSessionsRequest, responder, _| {
                sessions::list(&list, request, responder);
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionModeRequest, responder, _| {
                let session = mode.session(&request.session_id);
                let changed = session.and_then(|session| {
                    session.set_mode(Mode::named(&request.mode_id)?);
                    Ok(SetSessionModeResponse::new())
                });
                responder.respond_with_result(changed)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, connection| {
                turn::begin(&prompt, request, responder, connection);
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |notification: CancelNotification, _| {
                // Whoever cancels what is not there has what they want.
                if let Ok(session) = cancel.session(&notification.session_id) {
                    session.cancel_turn();
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_to(lines)
        .await
}

/// Who we are and what we can do, without a look at anything.
fn introduction(version: &str) -> InitializeResponse {
    let prompts = PromptCapabilities::new()
        .image(true)
        .audio(true)
        .embedded_context(true);
    let sessions = SessionCapabilities::new()
        .list(SessionListCapabilities::new())
        .resume(SessionResumeCapabilities::new())
        .close(SessionCloseCapabilities::new())
        .delete(SessionDeleteCapabilities::new());
    let capabilities = AgentCapabilities::new()
        .load_session(true)
        .prompt_capabilities(prompts)
        .mcp_capabilities(McpCapabilities::new().http(true).sse(true))
        .session_capabilities(sessions);
    let name = Implementation::new("openclaw", version).title("OpenClaw".to_owned());
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .agent_info(name)
}
