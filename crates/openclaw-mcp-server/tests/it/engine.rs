//! An engine that does what the message says.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use openclaw_engine::{
    AttachmentData, Audience, EngineFailure, Pending, ReplyEngine, ReplyEvent, ReplyPart,
    ReplyReport, ReplyRequest, SessionChoice, ToolCallReport,
};
use tokio::sync::Semaphore;

/// What an engine was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) message: String,
    pub(crate) session: SessionChoice,
    /// Name, type and bytes of what came with it.
    pub(crate) attachments: Vec<(Option<String>, String, Vec<u8>)>,
}

/// The engine. Messages that it knows:
///
/// | message | |
/// |---|---|
/// | `wait …` | goes on when the test opens the gate, then says the message |
/// | `hang` | says something, and never ends |
/// | `panic` | fails as nothing should |
/// | `fail` | fails, after half a sentence |
/// | `tools` | calls a tool |
/// | `large N` | says a text of N bytes |
/// | anything else | says it again |
#[derive(Clone)]
pub(crate) struct Scripted {
    pub(crate) asked: Arc<Mutex<Vec<Asked>>>,
    pub(crate) gate: Arc<Semaphore>,
    /// How many turns run.
    pub(crate) running: Arc<AtomicUsize>,
    /// How many ran at most at once.
    pub(crate) most: Arc<AtomicUsize>,
}

impl Default for Scripted {
    fn default() -> Self {
        Self {
            asked: Arc::default(),
            gate: Arc::new(Semaphore::new(0)),
            running: Arc::default(),
            most: Arc::default(),
        }
    }
}

/// Counts a turn for as long as it runs.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Scripted {
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn bytes(data: &AttachmentData) -> Vec<u8> {
    let AttachmentData::File(file) = data else {
        panic!("attachments come as files");
    };
    let mut file: &File = file;
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

impl ReplyEngine for Scripted {
    fn reply<'a>(
        &'a self,
        request: ReplyRequest,
        audience: &'a dyn Audience,
    ) -> Pending<'a, ReplyReport> {
        Box::pin(async move {
            let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
            let _counted = Counted(&self.running);
            self.most.fetch_max(running, Ordering::SeqCst);
            assert!(!audience.can_answer());
            let attachments = request.attachments.iter().map(|it| {
                let (name, kind) = (it.name.clone(), it.mime_type.clone());
                (name, kind, bytes(&it.data))
            });
            self.asked.lock().unwrap().push(Asked {
                message: request.message.clone(),
                session: request.session.clone(),
                attachments: attachments.collect(),
            });
            let said = self.act(&request.message, audience).await?;
            audience.hear(ReplyEvent::Final { text: said.clone() });
            Ok(ReplyReport {
                session_key: "agent:main:x".to_owned(),
                model: "test/scripted".to_owned(),
                reply: said.clone(),
                parts: vec![ReplyPart::Text { text: said }],
                tool_calls: Vec::new(),
                usage: None,
                cut_off: false,
            })
        })
    }
}

impl Scripted {
    async fn act(&self, message: &str, audience: &dyn Audience) -> Result<String, EngineFailure> {
        let partial = |text: &str| {
            let text = text.to_owned();
            audience.hear(ReplyEvent::Partial { text });
        };
        match message.split(' ').next().unwrap_or_default() {
            "wait" => self.gate.acquire().await.unwrap().forget(),
            "hang" => {
                partial("so far");
                std::future::pending::<()>().await;
            }
            "panic" => panic!("as asked"),
            "fail" => {
                partial("half a sent");
                let failure = EngineFailure::operation("model", "the model is gone");
                return Err(failure.hint("find it"));
            }
            "tools" => {
                let (id, name) = ("1".to_owned(), "mcp_clock_now".to_owned());
                audience.hear(ReplyEvent::tool_started(&id, &name));
                audience.hear(ReplyEvent::ToolProgress {
                    id: id.clone(),
                    text: "half\u{1b}[2J way".to_owned(),
                });
                let call = ToolCallReport {
                    name,
                    server: Some("clock".to_owned()),
                    is_error: false,
                    duration_ms: 7,
                };
                let text = "noon".to_owned();
                audience.hear(ReplyEvent::ToolResult { id, call, text });
                return Ok("It is noon.".to_owned());
            }
            "large" => {
                let count = message.split(' ').nth(1).and_then(|it| it.parse().ok());
                return Ok("x".repeat(count.unwrap_or(1)));
            }
            _ => {}
        }
        Ok(message.to_owned())
    }
}
