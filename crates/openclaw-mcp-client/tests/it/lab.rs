//! What every test here needs: a connector, servers to connect to, and proof that nothing is left.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use openclaw_mcp_client::{
    AddressTarget, Authorization, CallOptions, Connection, Connector, Content, Elicitation,
    ElicitationAnswer, Endpoint, EraMemory, FirstTransport, PendingAnswer, Person, ProgramTarget,
    Protocol, RequestError, Target, Timeouts, TlsSettings, ToolResult,
};
use openclaw_process::{GuardianProgram, Inherited, Launcher};
use openclaw_state::StateDirectory;
pub(crate) use openclaw_testkit::leaks::eventually;
use openclaw_testkit::leaks::{open_descriptors, processes_with_argument};
use openclaw_testkit::{FakeServer, JournalReader, RunningServer};
use serde_json::{Map, Value, json};

/// The flags of every way to a server.
pub(crate) const WAYS: [&str; 5] = [
    "stdio --era legacy",
    "stdio --era modern",
    "http --era legacy",
    "http --era modern",
    "sse",
];

/// How long something may take that should be there at once.
pub(crate) const SOON: Duration = Duration::from_secs(5);

/// A connector, the servers that were started, and what there was before.
pub(crate) struct Lab {
    connector: Option<Connector>,
    descriptors: usize,
    tasks: usize,
    markers: Vec<String>,
    programs: Vec<FakeServer>,
    servers: Vec<RunningServer>,
    state: tempfile::TempDir,
}

/// The fake server, which is the guardian as well.
pub(crate) fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    let program = profile.join("examples/fake_mcp_server");
    assert!(program.exists(), "the example is built with the tests");
    program
}

impl Lab {
    pub(crate) fn new() -> Self {
        let state = tempfile::tempdir().unwrap();
        let descriptors = open_descriptors().len();
        Self {
            connector: Some(connector(state.path())),
            descriptors,
            tasks: alive_tasks(),
            markers: Vec::new(),
            programs: Vec::new(),
            servers: Vec::new(),
            state,
        }
    }

    pub(crate) fn connector(&self) -> &Connector {
        self.connector.as_ref().unwrap()
    }

    /// A server in a program, told to behave so.
    pub(crate) fn program(&mut self, flags: &str) -> (Target, JournalReader) {
        let server = FakeServer::at(&program()).flags(flags);
        self.markers.push(server.marker().to_owned());
        let journal = JournalReader::at(server.journal().path());
        let arguments = server.arguments();
        let target = target(Endpoint::Program(ProgramTarget {
            command: server.program().to_str().unwrap().to_owned(),
            arguments: arguments
                .iter()
                .map(|argument| argument.to_str().unwrap().to_owned())
                .collect(),
            environment: Vec::new(),
            inherited: Inherited::Nothing,
            directory: None,
        }));
        // Its journal lives as long as it does.
        self.programs.push(server);
        (target, journal)
    }

    /// A server at an address, told to behave so.
    pub(crate) fn address(&mut self, flags: &str) -> (Target, JournalReader) {
        let server = FakeServer::at(&program()).flags(flags).start().unwrap();
        self.markers.push(server.marker().to_owned());
        let journal = JournalReader::at(server.journal().path());
        let target = address(&server.url());
        self.servers.push(server);
        (target, journal)
    }

    /// A server in a program or at an address, as the flags say.
    pub(crate) fn server_of(&mut self, flags: &str) -> (Target, JournalReader) {
        if flags.starts_with("stdio") {
            self.program(flags)
        } else {
            self.address(flags)
        }
    }

    /// A connector of another process of ours, with the same state directory.
    pub(crate) fn another_connector(&self) -> Connector {
        connector(self.state.path())
    }

    /// The server that was started last.
    pub(crate) fn server(&mut self) -> &mut RunningServer {
        self.servers.last_mut().unwrap()
    }

    pub(crate) async fn connect(&self, target: &Target) -> Connection {
        self.connector().connect(target).await.unwrap()
    }

    /// Makes sure that nothing is left: no process, no task, no descriptor.
    pub(crate) async fn finish(mut self) {
        drop(self.connector.take());
        self.servers.clear();
        let markers = std::mem::take(&mut self.markers);
        let left = || -> Vec<u32> {
            markers
                .iter()
                .flat_map(|marker| processes_with_argument(marker))
                .collect()
        };
        assert!(
            eventually(SOON, || left().is_empty()).await,
            "processes are left: {:?}",
            left()
        );
        let before = self.tasks;
        assert!(
            eventually(SOON, || alive_tasks() <= before).await,
            "tasks are left, there were {before}: {}",
            alive_tasks()
        );
        let before = self.descriptors;
        assert!(
            eventually(SOON, || open_descriptors().len() <= before).await,
            "descriptors are left, there were {before}: {:?}",
            open_descriptors()
        );
    }
}

fn connector(state: &Path) -> Connector {
    let directory = StateDirectory::open(&state.join("state")).unwrap();
    Connector::new(
        Arc::new(Launcher::new(GuardianProgram::at(&program()))),
        std::env::vars_os().collect(),
        std::env::current_dir().unwrap(),
        Some(EraMemory::new(&directory).unwrap()),
    )
}

fn alive_tasks() -> usize {
    tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks()
}

/// A target with short patience, so that what goes wrong goes wrong soon.
pub(crate) fn target(endpoint: Endpoint) -> Target {
    Target {
        name: "fake".to_owned(),
        fingerprint: None,
        endpoint,
        protocol: Protocol::Auto,
        timeouts: Timeouts {
            connection: Duration::from_secs(20),
            request: Duration::from_secs(10),
            total: Duration::from_secs(30),
        },
        parallel_calls: true,
        roots: None,
    }
}

pub(crate) fn address(url: &str) -> Target {
    target(Endpoint::Address(Box::new(AddressTarget {
        url: url.parse().unwrap(),
        first: FirstTransport::Streamable,
        headers: Vec::new(),
        authorization: Authorization::None,
        tls: TlsSettings::default(),
    })))
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}

pub(crate) async fn call(
    connection: &Connection,
    tool: &str,
    arguments: Value,
) -> Result<ToolResult, RequestError> {
    let options = CallOptions::default();
    connection.call_tool(tool, object(arguments), options).await
}

/// Calls `echo` and makes sure that it does.
pub(crate) async fn echo(connection: &Connection, message: &str) {
    let result = call(connection, "echo", json!({ "message": message })).await;
    assert_eq!(text(&result.unwrap()), message);
}

/// The text of a result that has one part.
pub(crate) fn text(result: &ToolResult) -> &str {
    match &result.content[..] {
        [Content::Text { text, .. }] => text,
        other => panic!("not one text: {other:?}"),
    }
}

/// Somebody who gives the same answer to all questions, and remembers them.
pub(crate) struct Somebody {
    pub(crate) answer: ElicitationAnswer,
    pub(crate) asked: Mutex<Vec<Elicitation>>,
}

impl Somebody {
    pub(crate) fn who(answer: ElicitationAnswer) -> Arc<Self> {
        Arc::new(Self {
            answer,
            asked: Mutex::default(),
        })
    }
}

impl Person for Somebody {
    fn elicit(&self, question: Elicitation) -> PendingAnswer<'_> {
        self.asked.lock().unwrap().push(question);
        let answer = self.answer.clone();
        Box::pin(async move { answer })
    }
}

/// Closes a connection and lets go of it, and of the pool of connections that it shares.
pub(crate) async fn close(connection: Connection) {
    connection.close().await;
}
