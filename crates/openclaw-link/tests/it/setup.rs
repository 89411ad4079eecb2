//! Gateways and peers of the tests.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use openclaw_engine::{
    Audience, ReplyEvent, ServerAnswer, ServerQuestion, ToolConsent, ToolQuestion,
};
use openclaw_link::{Greeting, Listener, PROTOCOL, Remote, Service, serve_texts};
use serde_json::{Value, json};
use std::pin::Pin;
use std::sync::Mutex;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::engine::TestEngine;

/// How long anything may take.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// What the gateway of the tests says first.
pub(crate) fn greeting() -> Greeting {
    Greeting {
        protocol: PROTOCOL,
        version: "9.9.9".to_owned(),
        pid: 42,
        config: "/c/openclaw.json".to_owned(),
        address: "127.0.0.1:1".to_owned(),
    }
}

/// What messages travel over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// The socket.
    Socket,
    /// Texts, behind a socket that only passes them on.
    Texts,
}

pub(crate) const WAYS: [Way; 2] = [Way::Socket, Way::Texts];

/// A gateway.
pub(crate) struct Gateway {
    pub(crate) state: TempDir,
    pub(crate) engine: Arc<TestEngine>,
    pub(crate) stops: Arc<AtomicUsize>,
    tasks: JoinSet<()>,
}

impl Gateway {
    pub(crate) fn start(way: Way) -> Self {
        Self::start_in(way, tempfile::tempdir().unwrap())
    }

    pub(crate) fn start_in(way: Way, state: TempDir) -> Self {
        let path = state.path().to_owned();
        Self::start_at(way, state, &path)
    }

    pub(crate) fn start_at(way: Way, state: TempDir, path: &Path) -> Self {
        let engine = Arc::new(TestEngine::default());
        let stops = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        match way {
            Way::Socket => {
                let listener = Listener::bind(path).unwrap();
                let counter = Arc::clone(&stops);
                let service = Arc::new(Service {
                    engine: engine.clone(),
                    greeting: greeting(),
                    stop: Box::new(move || {
                        counter.fetch_add(1, Ordering::SeqCst);
                    }),
                });
                tasks.spawn(async move {
                    let mut callers = JoinSet::new();
                    loop {
                        let caller = listener.accept().await.unwrap();
                        callers.spawn(caller.serve(Arc::clone(&service)));
                    }
                });
            }
            Way::Texts => {
                let listener = UnixListener::bind(path.join("gateway.sock")).unwrap();
                let engine = engine.clone();
                tasks.spawn(async move {
                    let mut callers = JoinSet::new();
                    loop {
                        let (stream, _) = listener.accept().await.unwrap();
                        callers.spawn(pass_on(stream, engine.clone()));
                    }
                });
            }
        }
        Self {
            state,
            engine,
            stops,
            tasks,
        }
    }

    pub(crate) async fn remote(&self) -> Remote {
        Remote::connect(self.state.path(), "0.1.0").await.unwrap()
    }

    /// Goes away in the middle of whatever is under way.
    pub(crate) async fn vanish(&mut self) {
        self.tasks.shutdown().await;
    }

    /// Waits until so many questions that never end are under way.
    pub(crate) async fn until_waiting(&self, count: usize) {
        until("questions under way", || {
            self.engine.waiting.load(Ordering::SeqCst) == count
        })
        .await;
    }
}

/// Greets a caller, and passes frames on as texts and texts as frames.
async fn pass_on(stream: UnixStream, engine: Arc<TestEngine>) {
    let mut peer = Peer(stream);
    peer.hear().await.unwrap();
    let mut hello = serde_json::to_value(greeting()).unwrap();
    hello["openclaw"] = json!("gateway");
    peer.say(&hello).await;
    let (to_engine, incoming) = mpsc::channel(16);
    let (outgoing, mut from_engine) = mpsc::channel::<String>(16);
    let (mut reading, mut writing) = peer.0.into_split();
    let read = async move {
        while let Ok(length) = reading.read_u32().await {
            let mut bytes = vec![0; length as usize];
            if reading.read_exact(&mut bytes).await.is_err() {
                return;
            }
            let text = String::from_utf8(bytes).unwrap();
            if to_engine.send(text).await.is_err() {
                return;
            }
        }
    };
    let write = async move {
        while let Some(text) = from_engine.recv().await {
            if writing.write_all(&framed(text.as_bytes())).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = serve_texts(engine, incoming, outgoing, 64 << 20) => {}
        ((), ()) = async { tokio::join!(read, write) } => {}
    }
}

/// A message with its length before it.
pub(crate) fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap();
    [&length.to_be_bytes(), message].concat()
}

/// A peer that says what a test wants, byte for byte.
pub(crate) struct Peer(pub(crate) UnixStream);

impl Peer {
    pub(crate) async fn call(state: &Path) -> Self {
        Self(
            UnixStream::connect(state.join("gateway.sock"))
                .await
                .unwrap(),
        )
    }

    /// Calls, and says and hears what is said first.
    pub(crate) async fn greeted(state: &Path) -> Self {
        let mut peer = Self::call(state).await;
        peer.say(&json!({"openclaw": "command", "protocol": PROTOCOL, "version": "0"}))
            .await;
        assert_eq!(peer.hear().await.unwrap()["openclaw"], "gateway");
        peer
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        let bytes = framed(message.to_string().as_bytes());
        self.0.write_all(&bytes).await.unwrap();
    }

    /// The next message; none if the other side has hung up.
    pub(crate) async fn hear(&mut self) -> Option<Value> {
        let heard = timeout(DEADLINE, async {
            let length = self.0.read_u32().await.ok()?;
            let mut bytes = vec![0; length as usize];
            self.0.read_exact(&mut bytes).await.ok()?;
            Some(serde_json::from_slice(&bytes).unwrap())
        });
        heard.await.expect("something is heard in time")
    }

    /// The length of the next message, which is read and not looked at.
    pub(crate) async fn pass_over(&mut self) -> Option<usize> {
        let length = self.0.read_u32().await.ok()? as usize;
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).await.ok()?;
        Some(length)
    }
}

/// Waits until something holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < DEADLINE, "waited too long for {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// An audience that keeps what it hears, and answers as it was told to.
pub(crate) struct Listening {
    pub(crate) heard: Mutex<Vec<ReplyEvent>>,
    pub(crate) asked: Mutex<Vec<ToolQuestion>>,
    pub(crate) asked_by_servers: Mutex<Vec<ServerQuestion>>,
    pub(crate) withdrawn: Arc<AtomicUsize>,
    pub(crate) can_answer: bool,
    pub(crate) says: ServerAnswer,
}

impl Listening {
    pub(crate) fn new() -> Self {
        Self {
            heard: Mutex::default(),
            asked: Mutex::default(),
            asked_by_servers: Mutex::default(),
            withdrawn: Arc::default(),
            can_answer: true,
            says: ServerAnswer::Decline,
        }
    }
}

/// Counts that a question was dropped before it was answered.
struct Unanswered(Option<Arc<AtomicUsize>>);

impl Drop for Unanswered {
    fn drop(&mut self) {
        if let Some(counter) = &self.0 {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Audience for Listening {
    fn hear(&self, event: ReplyEvent) {
        self.heard.lock().unwrap().push(event);
    }

    fn can_answer(&self) -> bool {
        self.can_answer
    }

    fn approve(
        &self,
        question: ToolQuestion,
    ) -> Pin<Box<dyn Future<Output = ToolConsent> + Send + '_>> {
        let tool = question.tool.clone();
        self.asked.lock().unwrap().push(question);
        Box::pin(async move {
            let mut unanswered = Unanswered(Some(Arc::clone(&self.withdrawn)));
            if tool == "slow" {
                std::future::pending::<()>().await;
            }
            if tool == "one" {
                // The second is answered before the first.
                until("the second question", || {
                    self.asked.lock().unwrap().len() == 2
                })
                .await;
            }
            unanswered.0 = None;
            match tool.as_str() {
                "two" => ToolConsent::Always,
                "no" => ToolConsent::No,
                _ => ToolConsent::Once,
            }
        })
    }

    fn answer(
        &self,
        question: ServerQuestion,
    ) -> Pin<Box<dyn Future<Output = ServerAnswer> + Send + '_>> {
        self.asked_by_servers.lock().unwrap().push(question);
        Box::pin(async move { self.says.clone() })
    }
}
