//! An editor: the other side of the protocol, as its own crate speaks it.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, PipeReader, PipeWriter, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ClientCapabilities, ContentBlock, CreateElicitationRequest, CreateElicitationResponse,
    InitializeRequest, InitializeResponse, McpServer, NewSessionRequest, PromptRequest,
    PromptResponse, RequestPermissionRequest, RequestPermissionResponse, SessionId,
    SessionNotification, TextContent,
};
use agent_client_protocol::{
    Agent, Client, Error, Lines, on_receive_notification, on_receive_request,
};
use futures_util::{sink, stream};
use openclaw_acp::{AcpSetup, serve};
use openclaw_state::StateDirectory;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::engine::FakeEngine;

/// How long anything may take.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// What an editor was told and asked, and what it will say.
#[derive(Default)]
pub(crate) struct Desk {
    /// Updates, with the session that each is about.
    pub(crate) updates: Mutex<Vec<(String, Value)>>,
    /// Questions.
    pub(crate) questions: Mutex<Vec<Value>>,
    /// Answers to them; without one a question is left open.
    pub(crate) answers: Mutex<VecDeque<Value>>,
    /// Told when a question is withdrawn.
    pub(crate) withdrawn: CancellationToken,
}

pub(crate) struct Editor {
    pub(crate) engine: Arc<FakeEngine>,
    pub(crate) desk: Arc<Desk>,
    pub(crate) connection: ConnectionTo<Agent>,
    pub(crate) introduction: InitializeResponse,
    served: JoinHandle<io::Result<()>>,
    stop: CancellationToken,
    directory: Option<TempDir>,
}

/// Starts the agent, and gives the ends of its streams.
pub(crate) fn start(
    engine: &Arc<FakeEngine>,
    state: &Path,
) -> (JoinHandle<io::Result<()>>, PipeWriter, PipeReader) {
    start_as(None, engine, state)
}

/// Starts an agent of this name.
fn start_as(
    agent: Option<&str>,
    engine: &Arc<FakeEngine>,
    state: &Path,
) -> (JoinHandle<io::Result<()>>, PipeWriter, PipeReader) {
    let (input, writer) = io::pipe().unwrap();
    let (reader, output) = io::pipe().unwrap();
    let setup = AcpSetup {
        input: Box::new(input),
        output: Box::new(output),
        state: StateDirectory::open(state).unwrap(),
        agent: agent.map(ToOwned::to_owned),
        version: "1.2.3",
        correlation: "test".to_owned(),
    };
    let engine = Arc::clone(engine);
    (tokio::spawn(serve(engine, setup)), writer, reader)
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(DEADLINE, waiting).await;
    assert!(waited.is_ok(), "it takes too long: {what}");
}

impl Editor {
    /// An editor that can do nothing special.
    pub(crate) async fn open() -> Self {
        Self::with(ClientCapabilities::new()).await
    }

    pub(crate) async fn with(capabilities: ClientCapabilities) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let state = directory.path().join("state");
        let mut editor = Self::speaking(None, Arc::default(), &state, capabilities).await;
        editor.directory = Some(directory);
        editor
    }

    /// An editor that speaks to an agent of this name.
    pub(crate) async fn of(agent: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let state = directory.path().join("state");
        let capabilities = ClientCapabilities::new();
        let mut editor = Self::speaking(Some(agent), Arc::default(), &state, capabilities).await;
        editor.directory = Some(directory);
        editor
    }

    /// An editor whose agent has this engine and state.
    pub(crate) async fn again(engine: Arc<FakeEngine>, state: &Path) -> Self {
        Self::speaking(None, engine, state, ClientCapabilities::new()).await
    }

    async fn speaking(
        agent: Option<&str>,
        engine: Arc<FakeEngine>,
        state: &Path,
        capabilities: ClientCapabilities,
    ) -> Self {
        let (served, writer, reader) = start_as(agent, &engine, state);
        let desk = Arc::new(Desk::default());
        let stop = CancellationToken::new();
        let (sender, connection) = oneshot::channel();
        tokio::spawn(speak(
            Arc::clone(&desk),
            writer,
            reader,
            sender,
            stop.clone(),
        ));
        let connection = connection.await.unwrap();
        let hello = InitializeRequest::new(ProtocolVersion::V1).client_capabilities(capabilities);
        let introduction = connection.send_request(hello).block_task().await.unwrap();
        Self {
            engine,
            desk,
            connection,
            introduction,
            served,
            stop,
            directory: None,
        }
    }

    /// Opens a session.
    pub(crate) async fn session(&self, servers: Vec<McpServer>) -> SessionId {
        let request = NewSessionRequest::new("/project").mcp_servers(servers);
        let response = self.connection.send_request(request).block_task().await;
        response.unwrap().session_id
    }

    /// Asks something.
    pub(crate) async fn prompt(
        &self,
        session: &SessionId,
        text: &str,
    ) -> Result<PromptResponse, Error> {
        let words = vec![ContentBlock::Text(TextContent::new(text))];
        let request = PromptRequest::new(session.clone(), words);
        let answer = self.connection.send_request(request).block_task();
        tokio::time::timeout(DEADLINE, answer).await.unwrap()
    }

    /// What it was told of a session.
    pub(crate) fn told(&self, session: &SessionId) -> Vec<Value> {
        let updates = self.desk.updates.lock().unwrap();
        let updates = updates.iter().filter(|(name, _)| **name == *session.0);
        updates.map(|(_, update)| update.clone()).collect()
    }

    /// The updates of a kind.
    pub(crate) fn told_of(&self, session: &SessionId, kind: &str) -> Vec<Value> {
        let mut told = self.told(session);
        told.retain(|update| update["sessionUpdate"] == kind);
        told
    }

    /// All that was said in a session.
    pub(crate) fn said(&self, session: &SessionId) -> String {
        let told = self.told_of(session, "agent_message_chunk");
        let texts = told.iter().map(|update| update["content"]["text"].as_str());
        texts.map(Option::unwrap_or_default).collect()
    }

    /// Says what it will answer next.
    pub(crate) fn will_answer(&self, answer: Value) {
        self.desk.answers.lock().unwrap().push_back(answer);
    }

    pub(crate) fn questions(&self) -> Vec<Value> {
        self.desk.questions.lock().unwrap().clone()
    }

    /// Hangs up, and waits until the agent has gone.
    pub(crate) async fn hang_up(self) -> (Arc<FakeEngine>, Option<TempDir>) {
        self.stop.cancel();
        let served = tokio::time::timeout(DEADLINE, self.served).await;
        served.unwrap().unwrap().unwrap();
        (self.engine, self.directory)
    }
}

/// Speaks as an editor, until it is told to stop.
async fn speak(
    desk: Arc<Desk>,
    writer: PipeWriter,
    reader: PipeReader,
    sender: oneshot::Sender<ConnectionTo<Agent>>,
    stop: CancellationToken,
) {
    let (lines, mut incoming) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in BufReader::new(reader).lines() {
            if lines.send(line).is_err() {
                return;
            }
        }
    });
    let incoming = stream::poll_fn(move |context| incoming.poll_recv(context));
    let outgoing = sink::unfold(writer, |mut writer, line: String| async move {
        writer.write_all(format!("{line}\n").as_bytes())?;
        Ok::<_, io::Error>(writer)
    });
    let (told, asked, wanted) = (desk.clone(), desk.clone(), desk);
    let spoken = Client
        .v1()
        .on_receive_notification(
            async move |notification: SessionNotification, _| {
                let update = serde_json::to_value(notification.update).unwrap();
                let name = notification.session_id.to_string();
                told.updates.lock().unwrap().push((name, update));
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, connection| {
                let request = serde_json::to_value(request).unwrap();
                asked.questions.lock().unwrap().push(request);
                let answer = asked.answers.lock().unwrap().pop_front();
                if let Some(answer) = answer {
                    let response = json!({ "outcome": answer });
                    let response: RequestPermissionResponse =
                        serde_json::from_value(response).unwrap();
                    return responder.respond(response);
                }
                let desk = Arc::clone(&asked);
                connection.spawn(async move {
                    responder.cancellation().cancelled().await;
                    desk.withdrawn.cancel();
                    responder.respond_with_error(Error::request_cancelled())
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CreateElicitationRequest, responder, _| {
                let request = serde_json::to_value(request).unwrap();
                wanted.questions.lock().unwrap().push(request);
                let answer = wanted.answers.lock().unwrap().pop_front().unwrap();
                let response: CreateElicitationResponse = serde_json::from_value(answer).unwrap();
                responder.respond(response)
            },
            on_receive_request!(),
        )
        .connect_with(Lines::new(outgoing, incoming), async move |connection| {
            let _ = sender.send(connection);
            stop.cancelled().await;
            Ok(())
        })
        .await;
    spoken.unwrap();
}
