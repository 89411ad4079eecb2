//! An editor, and the program that it has started.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ClientCapabilities, CloseSessionRequest, ContentBlock, CreateElicitationRequest,
    CreateElicitationResponse, ElicitationCapabilities, ElicitationFormCapabilities,
    InitializeRequest, InitializeResponse, McpServer, McpServerStdio, NewSessionRequest,
    NewSessionResponse, PermissionOptionKind, PromptRequest, PromptResponse,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome, SessionId, SessionNotification, SessionUpdate, TextContent,
};
use agent_client_protocol::{Agent, ByteStreams, Client, Error};
use serde_json::{Value as Json, json};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};
use tokio_util::compat::{TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};

use crate::lab::{Lab, SOON};

/// What the program said, and was asked.
#[derive(Clone, Default)]
pub(super) struct Heard {
    updates: Arc<Mutex<Vec<SessionNotification>>>,
    questions: Arc<Mutex<Vec<RequestPermissionRequest>>>,
    forms: Arc<Mutex<Vec<Json>>>,
}

impl Heard {
    pub(super) fn updates(&self) -> Vec<SessionUpdate> {
        let updates = self.updates.lock().unwrap();
        updates.iter().map(|it| it.update.clone()).collect()
    }

    pub(super) fn questions(&self) -> Vec<RequestPermissionRequest> {
        self.questions.lock().unwrap().clone()
    }

    /// What servers wanted to know.
    pub(super) fn forms(&self) -> Vec<Json> {
        self.forms.lock().unwrap().clone()
    }

    /// All text of the agent's messages.
    pub(super) fn text(&self) -> String {
        let updates = self.updates().into_iter();
        let texts = updates.filter_map(|update| match update {
            SessionUpdate::AgentMessageChunk(chunk) => match chunk.content {
                ContentBlock::Text(text) => Some(text.text),
                _ => None,
            },
            _ => None,
        });
        texts.collect()
    }

    pub(super) fn forget(&self) {
        self.updates.lock().unwrap().clear();
        self.questions.lock().unwrap().clear();
    }

    /// Waits until something was said.
    pub(super) async fn until(&self, what: impl Fn(&SessionUpdate) -> bool) {
        let deadline = Instant::now() + SOON;
        while !self.updates().iter().any(&what) {
            assert!(Instant::now() < deadline, "{:?}", self.updates());
            sleep(Duration::from_millis(10)).await;
        }
    }
}

/// An editor that is connected.
pub(super) struct Editor {
    pub(super) connection: ConnectionTo<Agent>,
    pub(super) heard: Heard,
    pub(super) agent: InitializeResponse,
}

impl Editor {
    /// Opens a session with these servers.
    pub(super) async fn open(
        &self,
        directory: &Path,
        servers: Vec<McpServer>,
    ) -> Result<NewSessionResponse, Error> {
        let request = NewSessionRequest::new(directory).mcp_servers(servers);
        self.connection.send_request(request).block_task().await
    }

    pub(super) async fn say(
        &self,
        session: &SessionId,
        text: &str,
    ) -> Result<PromptResponse, Error> {
        let blocks = vec![ContentBlock::Text(TextContent::new(text))];
        let request = PromptRequest::new(session.clone(), blocks);
        self.connection.send_request(request).block_task().await
    }

    pub(super) async fn close(&self, session: &SessionId) -> Result<(), Error> {
        let request = CloseSessionRequest::new(session.clone());
        let closing = self.connection.send_request(request).block_task();
        closing.await.map(drop)
    }
}

/// A program as a server of a session.
pub(super) fn stdio(name: &str, line: &[String]) -> McpServer {
    let (command, arguments) = line.split_first().unwrap();
    McpServer::Stdio(McpServerStdio::new(name, command).args(arguments.to_vec()))
}

/// Starts the program.
pub(super) fn start(lab: &Lab, arguments: &[&str]) -> Child {
    let command = lab.home.command(arguments);
    Command::from(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

/// Has an editor do something. A person in front of it answers every question like this, and fills in every
/// form in the same way. The program must
/// end by itself when the editor has gone, and must have said nothing on its standard error but which servers
/// can't be used.
pub(super) fn edit<T>(
    lab: &Lab,
    says: PermissionOptionKind,
    work: impl AsyncFnOnce(&Editor) -> T,
) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(async {
        let mut child = start(lab, &["acp"]);
        let input = child.stdin.take().unwrap().compat_write();
        let output = child.stdout.take().unwrap().compat();
        let heard = Heard::default();
        let (told, asked, filled) = (heard.clone(), heard.clone(), heard.clone());
        let result = Client
            .v1()
            .name("an editor")
            .on_receive_notification(
                async move |notification: SessionNotification, _connection| {
                    told.updates.lock().unwrap().push(notification);
                    Ok(())
                },
                agent_client_protocol::on_receive_notification!(),
            )
            .on_receive_request(
                async move |request: RequestPermissionRequest, responder, _connection| {
                    let option = request.options.iter().find(|option| option.kind == says);
                    let outcome = match option {
                        Some(option) => RequestPermissionOutcome::Selected(
                            SelectedPermissionOutcome::new(option.option_id.clone()),
                        ),
                        None => RequestPermissionOutcome::Cancelled,
                    };
                    asked.questions.lock().unwrap().push(request);
                    responder.respond(RequestPermissionResponse::new(outcome))
                },
                agent_client_protocol::on_receive_request!(),
            )
            .on_receive_request(
                async move |request: CreateElicitationRequest, responder, _connection| {
                    filled.forms.lock().unwrap().push(json!(request));
                    let content =
                        json!({ "name": "Ann", "age": 30, "colour": "green", "sure": false });
                    let answer = json!({ "action": "accept", "content": content });
                    let answer: CreateElicitationResponse = serde_json::from_value(answer).unwrap();
                    responder.respond(answer)
                },
                agent_client_protocol::on_receive_request!(),
            )
            .connect_with(ByteStreams::new(input, output), async |connection| {
                let forms = ElicitationCapabilities::new().form(ElicitationFormCapabilities::new());
                let request = InitializeRequest::new(ProtocolVersion::V1)
                    .client_capabilities(ClientCapabilities::new().elicitation(forms));
                let agent = connection.send_request(request).block_task().await?;
                let editor = Editor {
                    connection,
                    heard,
                    agent,
                };
                Ok(work(&editor).await)
            })
            .await;
        let ended = timeout(SOON, child.wait_with_output()).await;
        let ended = ended.expect("it ends with the editor").unwrap();
        let errors = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(0), "{errors}");
        let unexpected = errors.lines().find(|line| !line.contains("can't be used"));
        assert_eq!(unexpected, None, "{errors}");
        result.unwrap()
    })
}
