//! The steps of the tour, each of which has to have happened.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use openclaw_content::shown_line;
use openclaw_engine::{
    Audience, Engine, OfServer, OneServer, OneSession, ReplyEvent, ReplyReport, ReplyRequest,
    SessionChoice, ShownState, ToolCallReport, ToolConsent, ToolQuestion,
};
use serde::Serialize;
use serde_json::Value as Json;

use crate::commands::Session;
use crate::commands::demo::telling;
use crate::commands::engine::answered;
use crate::failure::Failure;

const SERVER: &str = "demo";
const MODEL: &str = "builtin/offline";
const MESSAGE: &str = "add 19 and 23";
/// What has to be in the reply.
const EXPECTED: &str = "42";
const FRAME: [&str; 2] = [
    "<<<EXTERNAL_UNTRUSTED_CONTENT id=",
    "<<<END_EXTERNAL_UNTRUSTED_CONTENT id=",
];

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Facts {
    /// The server's process, which is gone by now.
    pub(super) pid: u32,
    pub(super) protocol_version: Option<String>,
    /// The tools, by the names that the model sees.
    pub(super) tools: Vec<Tool>,
    pub(super) message: &'static str,
    pub(super) model: String,
    /// What the model called the tool with.
    pub(super) arguments: Json,
    pub(super) tool_calls: Vec<ToolCallReport>,
    /// What the model read.
    pub(super) framed: String,
    pub(super) reply: String,
}

/// A tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) description: String,
}

/// Takes the tour, and tells of each step when it has happened.
pub(super) async fn take(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    config: &str,
    json: bool,
) -> Result<Facts, Failure> {
    let mut guide = Guide { session, json };
    guide.tell(&telling::configured(config))?;

    let query = OneServer {
        agent: None,
        server: SERVER.to_owned(),
    };
    let pending = engine.server(query);
    let server = answered(guide.session.output, "starting the server", pending).await?;
    let report = server.report;
    let (ShownState::Ready, Some(pid)) = (report.state, report.pid) else {
        let reason = report.error.as_deref().unwrap_or("no reason is known");
        let reason = shown_line(reason, 500);
        return Err(missed(format!("the demo server did not start: {reason}")));
    };
    guide.tell(&telling::started(pid, report.protocol_version.as_deref()))?;

    let pending = engine.tools(OfServer::default());
    let tools = answered(guide.session.output, "listing tools", pending).await?;
    let tools: Vec<Tool> = tools
        .tools
        .into_iter()
        .map(|tool| Tool {
            name: tool.name,
            description: tool.description,
        })
        .collect();
    if tools.is_empty() {
        return Err(missed("the demo server offers no tools".to_owned()));
    }
    guide.tell(&telling::listed(&tools))?;
    guide.tell(&telling::asked(MESSAGE))?;

    let onlooker = Onlooker::default();
    let request = ReplyRequest {
        session: SessionChoice::Main,
        message: MESSAGE.to_owned(),
        // Whoever asks for the tour wants its call.
        approved: true,
        correlation: guide.session.operation.to_string(),
        ..ReplyRequest::default()
    };
    let pending = engine.reply(request, &onlooker);
    let reply = answered(guide.session.output, "answering", pending).await?;
    let framed = onlooker.framed();
    check(&reply, &framed)?;
    let arguments = arguments(engine, guide.session, &reply).await?;
    guide.tell(&telling::called(&reply, &arguments))?;
    guide.tell(&telling::framed(&framed))?;
    guide.tell(&telling::replied(&reply.reply))?;
    Ok(Facts {
        pid,
        protocol_version: report.protocol_version,
        tools,
        message: MESSAGE,
        model: reply.model,
        arguments,
        tool_calls: reply.tool_calls,
        framed,
        reply: reply.reply,
    })
}

/// Makes sure that what is told happened.
fn check(reply: &ReplyReport, framed: &str) -> Result<(), Failure> {
    let ours = |call: &ToolCallReport| !call.is_error && call.server.as_deref() == Some(SERVER);
    let problem = if reply.model != MODEL {
        Some("another model answered")
    } else if reply.tool_calls.len() != 1 || !reply.tool_calls.iter().all(ours) {
        Some("the model did not call a tool of the demo server")
    } else if !FRAME.iter().all(|mark| framed.contains(mark)) {
        Some("the result had no frame")
    } else if !reply.reply.contains(EXPECTED) {
        Some("the reply does not hold the result")
    } else {
        None
    };
    match problem {
        Some(problem) => Err(missed(problem.to_owned())),
        None => Ok(()),
    }
}

/// What the tool was called with, as the session has it.
async fn arguments(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    reply: &ReplyReport,
) -> Result<Json, Failure> {
    let query = OneSession {
        agent: None,
        key: reply.session_key.clone(),
    };
    let pending = engine.session(query);
    let transcript = answered(session.output, "reading the session", pending).await?;
    let mut calls = transcript.messages.into_iter().flat_map(|it| it.tool_calls);
    let call = calls.next();
    call.map(|call| call.arguments)
        .ok_or_else(|| missed("the session does not have the call".to_owned()))
}

fn missed(message: String) -> Failure {
    Failure::failed("demo", message)
        .hint("run `openclaw demo --log-level debug`, and report what it says")
}

/// Who tells of the steps.
struct Guide<'g, 's> {
    session: &'g mut Session<'s>,
    json: bool,
}

impl Guide<'_, '_> {
    fn tell(&mut self, text: &str) -> Result<(), Failure> {
        if self.json {
            return Ok(());
        }
        self.session.output.print(text)
    }
}

/// Who looks on: keeps what the model reads.
#[derive(Default)]
struct Onlooker(Mutex<String>);

impl Onlooker {
    fn framed(&self) -> String {
        let framed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        framed.clone()
    }
}

impl Audience for Onlooker {
    fn hear(&self, event: ReplyEvent) {
        if let ReplyEvent::ToolResult { text, .. } = event {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
        }
    }

    fn can_answer(&self) -> bool {
        false
    }

    fn approve(
        &self,
        _question: ToolQuestion,
    ) -> Pin<Box<dyn Future<Output = ToolConsent> + Send + '_>> {
        Box::pin(std::future::ready(ToolConsent::No))
    }
}
