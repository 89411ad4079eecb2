//! An engine that says what it was asked, and does what tools and messages are called.

use std::io::{Read, Seek};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use openclaw_engine::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::table::Nothing;

/// The engine of the tests.
#[derive(Default)]
pub(crate) struct TestEngine {
    /// What was asked: names and queries.
    pub(crate) asked: Mutex<Vec<(&'static str, Value)>>,
    /// How many questions that wait for ever are under way.
    pub(crate) waiting: Arc<AtomicUsize>,
    /// How many questions to the person were dropped.
    pub(crate) dropped: AtomicUsize,
    /// How much was told of turns that never end, in bytes.
    pub(crate) told: AtomicUsize,
    /// How many events whoever watches is told at once.
    pub(crate) events: AtomicU64,
    /// How often it was closed.
    pub(crate) closed: AtomicUsize,
}

/// Counts for as long as it is there.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(counter: &Arc<AtomicUsize>) -> Self {
        counter.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(counter))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A value of any type from JSON.
pub(crate) fn value<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).unwrap()
}

impl TestEngine {
    fn note(&self, name: &'static str, query: &Value) {
        self.asked.lock().unwrap().push((name, query.clone()));
    }

    /// Does what the query names, if that is something special.
    async fn act(&self, name: &'static str, query: Value) -> Result<Option<Value>, EngineFailure> {
        self.note(name, &query);
        if name != "call" {
            return Ok(None);
        }
        let report = |text: String| {
            json!({
                "tool": "t", "server": "s", "isError": false, "durationMs": 0,
                "content": [{"type": "text", "text": text}]
            })
        };
        let tool = query["tool"].as_str().unwrap_or_default();
        match tool.split_once(' ').unwrap_or((tool, "")) {
            ("wait", _) => {
                let _counted = Counted::new(&self.waiting);
                std::future::pending().await
            }
            ("fail", code) => Err(EngineFailure::asker("code", format!("failed: {code}"))
                .about("s")
                .hint("do it")),
            ("panic", _) => panic!("the test wants it"),
            ("large", size) => Ok(Some(report("x".repeat(size.parse().unwrap())))),
            ("echo", text) => Ok(Some(report(text.to_owned()))),
            _ => Ok(None),
        }
    }
}

macro_rules! report {
    (($report:expr)) => {
        $report
    };
    ($report:tt) => {
        json!($report)
    };
}

macro_rules! engine {
    ($($name:ident($($query:ident: $kind:ident $sample:tt)?) -> $report:ident $result:tt;)+) => {
        impl Engine for TestEngine {
            $(fn $name(&self $(, $query: $kind)?) -> Pending<'_, $report> {
                let asked = [$(serde_json::to_value(&$query).unwrap())?];
                Box::pin(async move {
                    let asked = asked.into_iter().next().unwrap_or(Value::Null);
                    let acted = self.act(stringify!($name), asked).await?;
                    Ok(value(acted.unwrap_or_else(|| report!($result))))
                })
            })+

            fn watch<'a>(&'a self, watcher: &'a dyn Watcher) -> Pending<'a, ()> {
                Box::pin(async move {
                    self.note("watch", &Value::Null);
                    let _counted = Counted::new(&self.waiting);
                    let count = self.events.load(Ordering::SeqCst);
                    for number in 0..count {
                        watcher.hear(EngineEvent::NotReloaded {
                            error: format!("{number} {}", "x".repeat(1_000)),
                        });
                    }
                    if count == 3 {
                        return Ok(());
                    }
                    std::future::pending().await
                })
            }

            fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
                self.closed.fetch_add(1, Ordering::SeqCst);
                Box::pin(std::future::ready(()))
            }
        }
    };
}

each_question!(engine);

/// What the person is asked about a tool.
pub(crate) fn tool_question(tool: &str) -> ToolQuestion {
    ToolQuestion {
        id: "1".to_owned(),
        agent: "main".to_owned(),
        server: "s".to_owned(),
        tool: tool.to_owned(),
        name: format!("mcp_s_{tool}"),
        title: Some("T".to_owned()),
        description: None,
        arguments: vec![("a".to_owned(), "1".to_owned())],
        more_arguments: 2,
    }
}

/// What a server asks the person.
pub(crate) fn server_question() -> ServerQuestion {
    ServerQuestion {
        agent: "main".to_owned(),
        server: "s".to_owned(),
        tool: "t".to_owned(),
        message: "who?".to_owned(),
        asks: Asks::Visit {
            url: "https://x".to_owned(),
        },
    }
}

impl ReplyEngine for TestEngine {
    fn reply<'a>(
        &'a self,
        request: ReplyRequest,
        audience: &'a dyn Audience,
    ) -> Pending<'a, ReplyReport> {
        Box::pin(async move {
            let message = request.message.as_str();
            let reply = match message.split_once(' ').unwrap_or((message, "")) {
                ("show", _) => format!(
                    "{:?} {:?} {:?} {:?} {:?} {} {} {}",
                    request.agent,
                    request.session,
                    request.earlier,
                    request.instructions,
                    request.model,
                    request.approved,
                    request.correlation,
                    audience.can_answer(),
                ),
                ("events", count) => {
                    for number in 0..count.parse().unwrap() {
                        let text = format!("{number}");
                        audience.hear(ReplyEvent::Partial { text });
                    }
                    String::new()
                }
                ("approve", tool) => format!("{:?}", audience.approve(tool_question(tool)).await),
                ("answer", _) => format!("{:?}", audience.answer(server_question()).await),
                ("both", _) => {
                    let (one, two) = tokio::join!(
                        audience.approve(tool_question("one")),
                        audience.approve(tool_question("two"))
                    );
                    format!("{one:?} {two:?}")
                }
                ("withdraw", _) => {
                    let asked = audience.approve(tool_question("slow"));
                    let never = tokio::time::timeout(std::time::Duration::from_millis(20), asked);
                    assert!(never.await.is_err());
                    self.dropped.fetch_add(1, Ordering::SeqCst);
                    format!("{:?}", audience.approve(tool_question("next")).await)
                }
                ("wait", _) => {
                    let _counted = Counted::new(&self.waiting);
                    audience.hear(ReplyEvent::Notice {
                        text: "waiting".to_owned(),
                    });
                    std::future::pending().await
                }
                ("flood", _) => {
                    let _counted = Counted::new(&self.waiting);
                    loop {
                        let text = "x".repeat(1 << 20);
                        self.told.fetch_add(text.len(), Ordering::SeqCst);
                        audience.hear(ReplyEvent::Partial { text });
                        tokio::task::yield_now().await;
                    }
                }
                ("files", _) => request.attachments.iter().map(shown).collect(),
                _ => message.to_owned(),
            };
            Ok(ReplyReport {
                session_key: "agent:main:main".to_owned(),
                model: "builtin/offline".to_owned(),
                reply,
                parts: Vec::new(),
                tool_calls: Vec::new(),
                usage: None,
                cut_off: false,
            })
        })
    }
}

/// What came with a message: its name, type, length and the sum of its bytes.
pub(crate) fn shown(attachment: &Attachment) -> String {
    let (kind, bytes) = match &attachment.data {
        AttachmentData::Base64(text) => ("base64", text.as_bytes().to_vec()),
        AttachmentData::File(file) => {
            let mut bytes = Vec::new();
            let mut file = &**file;
            file.rewind().unwrap();
            file.read_to_end(&mut bytes).unwrap();
            ("file", bytes)
        }
    };
    let sum = bytes.iter().fold(7_u64, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u64::from(*byte))
    });
    let (name, mime_type, length) = (&attachment.name, &attachment.mime_type, bytes.len());
    format!("{kind} {name:?} {mime_type} {length} {sum};")
}
