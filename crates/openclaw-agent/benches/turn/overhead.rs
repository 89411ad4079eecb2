//! What a turn costs beside its model and its tools.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use openclaw_conversation::{AssistantMessage, AssistantPart, CallArguments, Message, ToolCall};
use openclaw_engine::ReplyEvent;
use openclaw_models::{
    Model, ModelFacts, ModelListener, ModelReply, ModelRequest, PendingReply, Stop,
};
use openclaw_sessions::SessionKey;
use openclaw_testkit::figures::{Report, median, micros};
use serde_json::{Map, Value, json};

use crate::house::{Hearing, House, request};

const TURNS: usize = 300;

/// Says something at once, after a call if it is told to.
struct AtOnce {
    calls: bool,
    facts: ModelFacts,
}

impl Model for AtOnce {
    fn name(&self) -> &'static str {
        "bench/at-once"
    }

    fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    fn reply<'a>(
        &'a self,
        request: ModelRequest<'a>,
        _listener: &'a mut ModelListener<'_>,
    ) -> PendingReply<'a> {
        let is_answered = matches!(request.messages.last(), Some(Message::Tool(_)));
        let (part, stop) = if self.calls && !is_answered {
            let mut arguments = Map::new();
            arguments.insert("message".to_owned(), Value::from("hello"));
            let call = ToolCall {
                id: "1".to_owned(),
                name: "mcp_fake_echo".to_owned(),
                arguments: CallArguments::Object(arguments),
                opaque: None,
            };
            (AssistantPart::ToolCall(call), Stop::Calls)
        } else {
            let text = "done".to_owned();
            (AssistantPart::Text { text }, Stop::Done)
        };
        let message = AssistantMessage {
            parts: vec![part],
            model: "bench/at-once".to_owned(),
            usage: None,
        };
        Box::pin(std::future::ready(Ok(ModelReply { message, stop })))
    }
}

pub(crate) fn measure(report: &mut Report) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let this = std::env::current_exe().expect("a program");
        for (search, of_tools) in [
            ("off", "1,000 tools"),
            ("on", "1,000 tools that are searched for"),
        ] {
            let house = House::new(&json!({
                "mcp": { "servers": { "fake": {
                    "command": this, "args": ["stdio", "--tools", "1000"],
                } } },
                "tools": { "toolSearch": search },
            }));
            for (calls, what) in [
                (false, format!("a turn without a call, {of_tools}")),
                (
                    true,
                    format!("a turn with a call, {of_tools}, beside the call's own time"),
                ),
            ] {
                let took = turns(&house, calls).await;
                let middle = median(took);
                let is_kept = middle < Duration::from_millis(2);
                report.judge(&what, &micros(middle), "2 ms", is_kept);
            }
            house.close().await;
        }
    });
}

/// What each turn took beside its call.
async fn turns(house: &House, calls: bool) -> Vec<Duration> {
    let model = AtOnce {
        calls,
        facts: ModelFacts {
            context_window: 1_000_000,
            max_tokens: 8_000,
            takes_images: true,
            takes_documents: false,
            most_tools: None,
        },
    };
    let plan = house.agents.plan(None).expect("an agent");
    let mut took = Vec::with_capacity(TURNS);
    for number in 0..TURNS + 5 {
        let key = SessionKey::parse(&format!("bench-{calls}-{number}"), &plan.agent.id);
        let key = key.expect("a key");
        // From when the call was begun to when it had ended.
        let calling: Mutex<(Option<Instant>, Duration)> = Mutex::default();
        let hearing = Hearing(|event| {
            let mut calling = calling.lock().expect("nobody panics");
            match event {
                ReplyEvent::ToolStarted { .. } => calling.0 = Some(Instant::now()),
                ReplyEvent::ToolResult { .. } => {
                    let took = calling.0.take().map(|it| it.elapsed());
                    calling.1 += took.unwrap_or_default();
                }
                _ => {}
            }
        });
        let started = Instant::now();
        let reply = house
            .agents
            .reply_with(&model, &plan, &key, request("hello"), &hearing);
        Box::pin(reply).await.expect("a reply");
        let all = started.elapsed();
        let of_call = calling.lock().expect("nobody panics").1;
        // The first ones start the server and make the tools ready.
        if number >= 5 {
            took.push(all.saturating_sub(of_call));
        }
    }
    took
}
