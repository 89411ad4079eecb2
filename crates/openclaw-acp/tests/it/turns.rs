//! What the engine does when it is asked. Messages that it knows:
//!
//! | message | |
//! |---|---|
//! | `hang` | says something, and never ends |
//! | `flood` | says a lot, and never ends |
//! | `fail` | fails, after half a sentence |
//! | `tool` | calls a tool |
//! | `ask` | asks whether a tool may run |
//! | `ask later` | says something, waits, and then asks that |
//! | `much` | says a lot, and ends |
//! | `rounds` | never comes to an end |
//! | `form`, `visit` | asks what a server wants to know |
//! | `panic` | fails as nothing should |
//! | anything else | says it again, in two parts |

use std::sync::atomic::Ordering;

use openclaw_engine::*;
use serde_json::json;

use crate::engine::FakeEngine;

pub(crate) async fn act(
    engine: &FakeEngine,
    request: &ReplyRequest,
    audience: &dyn Audience,
) -> Result<String, EngineFailure> {
    let partial = |text: &str| {
        let text = text.to_owned();
        audience.hear(ReplyEvent::Partial { text });
    };
    match request.message.as_str() {
        "hang" => {
            partial("so far");
            std::future::pending::<()>().await;
        }
        "flood" => {
            let text = "x".repeat(64 * 1024);
            loop {
                partial(&text);
                engine.heard.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
            }
        }
        "fail" => {
            partial("half a sent");
            let failure = EngineFailure::operation("model", "the model is gone");
            return Err(failure.hint("find it"));
        }
        "panic" => panic!("as asked"),
        "tool" => {
            started(audience);
            audience.hear(ReplyEvent::ToolProgress {
                id: "1".to_owned(),
                text: "half way".to_owned(),
            });
            ended(audience, false);
            return Ok("It is noon.".to_owned());
        }
        "much" => {
            let text = "x".repeat(64 * 1024);
            (0..64).for_each(|_| partial(&text));
            return Ok(text.repeat(64));
        }
        "rounds" => {
            let message = "there were 9 rounds of calls, which is the most";
            return Err(EngineFailure::operation("too-many-rounds", message));
        }
        message @ ("ask" | "ask later") => {
            if message == "ask later" {
                partial("so far");
                engine.go_on.notified().await;
            }
            started(audience);
            let consent = audience.approve(question()).await;
            ended(audience, consent == ToolConsent::No);
            return Ok(format!("{consent:?}"));
        }
        "form" => {
            let field = FormField {
                name: "age".to_owned(),
                title: Some("Your age".to_owned()),
                description: None,
                required: true,
                kind: FieldKind::Number {
                    whole: true,
                    least: Some(18.0),
                    most: None,
                },
                default: None,
            };
            return asked(
                audience,
                Asks::Form {
                    fields: vec![field],
                },
            )
            .await;
        }
        "visit" => {
            let url = "https://example.com/login".to_owned();
            return asked(audience, Asks::Visit { url }).await;
        }
        message => {
            let (first, _) = message.split_at(message.len() / 2);
            partial(first);
        }
    }
    Ok(request.message.clone())
}

async fn asked(audience: &dyn Audience, asks: Asks) -> Result<String, EngineFailure> {
    let question = ServerQuestion {
        agent: "main".to_owned(),
        server: "shop".to_owned(),
        tool: "buy".to_owned(),
        message: "How old are you?".to_owned(),
        asks,
    };
    Ok(match audience.answer(question).await {
        ServerAnswer::Accept(fields) => format!("accepted {}", json!(fields)),
        other => format!("{other:?}"),
    })
}

fn started(audience: &dyn Audience) {
    audience.hear(ReplyEvent::ToolStarted {
        id: "1".to_owned(),
        name: "mcp_clock_now".to_owned(),
        server: Some("clock".to_owned()),
        title: Some("The time".to_owned()),
        effect: ToolEffect::Reads,
        arguments: json!({ "path": "/etc/clock", "line": 3 })
            .as_object()
            .unwrap()
            .clone(),
    });
}

fn ended(audience: &dyn Audience, is_error: bool) {
    audience.hear(ReplyEvent::ToolResult {
        id: "1".to_owned(),
        call: ToolCallReport {
            name: "mcp_clock_now".to_owned(),
            server: Some("clock".to_owned()),
            is_error,
            duration_ms: 1,
        },
        text: "noon".to_owned(),
    });
}

fn question() -> ToolQuestion {
    ToolQuestion {
        id: "1".to_owned(),
        agent: "main".to_owned(),
        server: "clock".to_owned(),
        tool: "now".to_owned(),
        name: "mcp_clock_now".to_owned(),
        title: Some("The time".to_owned()),
        description: Some("Tells the time".to_owned()),
        arguments: Vec::new(),
        more_arguments: 0,
    }
}
