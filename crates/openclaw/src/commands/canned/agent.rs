//! What the canned engine answers about agents.

use openclaw_engine::{
    AskedCall, Audience, Credentials, DeletedSession, EngineFailure, MediaReport, MessageReport,
    ModelReport, ModelsReport, OneSession, Pending, ReplyEngine, ReplyEvent, ReplyPart,
    ReplyReport, ReplyRequest, SessionReport, SessionTranscript, SessionsReport, Speaker,
    ToolCallReport, ToolConsent, ToolQuestion, UsageReport,
};
use serde_json::json;

use super::{Canned, PNG, ready, unknown};
use crate::render::tests::HOSTILE;

const KEY: &str = "agent:main:main";
const TIME: &str = "2000-01-01T00:00:00.123Z";

fn call(is_error: bool) -> ToolCallReport {
    ToolCallReport {
        name: format!("mcp_everything_echo{HOSTILE}"),
        server: Some("everything".to_owned()),
        is_error,
        duration_ms: 12,
    }
}

fn question() -> ToolQuestion {
    ToolQuestion {
        id: "1".to_owned(),
        agent: "main".to_owned(),
        server: "everything".to_owned(),
        tool: "echo".to_owned(),
        name: "mcp_everything_echo".to_owned(),
        title: None,
        description: Some(format!("Echoes {HOSTILE}")),
        arguments: vec![("message".to_owned(), format!("\"{HOSTILE}\""))],
        more_arguments: 2,
    }
}

fn report(reply: &str) -> ReplyReport {
    ReplyReport {
        session_key: KEY.to_owned(),
        model: "builtin/offline".to_owned(),
        reply: reply.to_owned(),
        parts: vec![
            ReplyPart::Text {
                text: reply.to_owned(),
            },
            ReplyPart::Image {
                mime_type: "image/png".to_owned(),
                data: PNG.into(),
            },
        ],
        tool_calls: vec![call(false)],
        usage: Some(UsageReport {
            input_tokens: 10,
            output_tokens: 2,
            cached_tokens: 0,
        }),
        cut_off: false,
    }
}

impl ReplyEngine for Canned {
    /// What is said depends on the message: `fail`, `refuse`, `silent`, `ask`, or anything.
    fn reply<'a>(
        &'a self,
        request: ReplyRequest,
        audience: &'a dyn Audience,
    ) -> Pending<'a, ReplyReport> {
        Box::pin(async move {
            let partial = |text: &str| {
                audience.hear(ReplyEvent::Partial {
                    text: text.to_owned(),
                });
            };
            audience.hear(ReplyEvent::Started {
                session_key: KEY.to_owned(),
                model: "builtin/offline".to_owned(),
            });
            match request.message.as_str() {
                "fail" => {
                    partial("half of an ans");
                    let failure = EngineFailure::operation("model", "the service is gone");
                    return Err(failure.hint("try again later"));
                }
                "refuse" => {
                    return Err(EngineFailure::asker("unknown-model", "no such model"));
                }
                "silent" => return Ok(report("said only at the end")),
                "ask" => {
                    let consent = if request.approved {
                        ToolConsent::Once
                    } else if audience.can_answer() {
                        audience.approve(question()).await
                    } else {
                        ToolConsent::No
                    };
                    return Ok(report(&format!("{consent:?}")));
                }
                _ => {}
            }
            audience.hear(ReplyEvent::Reasoning {
                text: "hm".to_owned(),
            });
            partial("wrong");
            audience.hear(ReplyEvent::Retracted {
                reason: format!("the service broke off {HOSTILE}"),
            });
            partial("Let me \u{1b}");
            partial("[2Jlook.");
            audience.hear(ReplyEvent::Block {
                text: "Let me \u{1b}[2Jlook.".to_owned(),
            });
            for (id, is_error) in [("1", false), ("2", true)] {
                let id = id.to_owned();
                audience.hear(ReplyEvent::tool_started(&id, call(is_error).name));
                audience.hear(ReplyEvent::ToolResult {
                    id,
                    call: call(is_error),
                    text: "<<<framed>>>".to_owned(),
                });
            }
            audience.hear(ReplyEvent::Media {
                part: ReplyPart::Image {
                    mime_type: "image/jpeg".to_owned(),
                    data: PNG.into(),
                },
            });
            audience.hear(ReplyEvent::Notice {
                text: format!("notes is not connected {HOSTILE}"),
            });
            partial("It ");
            partial("says hi");
            let reply = format!("It says hi {HOSTILE}");
            audience.hear(ReplyEvent::Final {
                text: reply.clone(),
            });
            Ok(report(&reply))
        })
    }
}

pub(super) fn sessions(agent: Option<&str>) -> SessionsReport {
    let session = |key: &str, messages| SessionReport {
        key: key.to_owned(),
        agent: "main".to_owned(),
        messages,
        created_at: TIME.to_owned(),
        updated_at: TIME.to_owned(),
    };
    let sessions = match agent {
        Some("quiet") => vec![],
        _ => vec![
            session(KEY, 3),
            session("agent:main:work", 12_345),
            session(&format!("agent:main:{HOSTILE}"), 1),
        ],
    };
    SessionsReport {
        sessions,
        problems: vec![format!("a store was set aside {HOSTILE}")],
        set_aside: vec![],
    }
}

fn said(role: Speaker, text: &str) -> MessageReport {
    MessageReport {
        time: TIME.to_owned(),
        ..MessageReport::said(role, text)
    }
}

pub(super) fn session(query: &OneSession) -> Pending<'static, SessionTranscript> {
    if !query.key.ends_with("main") {
        return unknown("unknown-session", "session of this name", "ask again");
    }
    let asked = |outcome| AskedCall {
        id: "1".to_owned(),
        name: format!("mcp_everything_echo{HOSTILE}"),
        arguments: json!({ "message": format!("hi {HOSTILE}") }),
        outcome,
    };
    let media = MediaReport {
        mime_type: "image/png".to_owned(),
        name: Some(format!("a.png{HOSTILE}")),
        bytes: 2048,
    };
    ready(SessionTranscript {
        key: KEY.to_owned(),
        messages: vec![
            MessageReport {
                media: vec![media],
                ..said(Speaker::User, &format!("look\n\n  at this {HOSTILE}"))
            },
            MessageReport {
                tool_calls: vec![asked(Some(call(false))), asked(Some(call(true)))],
                model: Some("builtin/offline".to_owned()),
                ..said(Speaker::Assistant, "")
            },
            MessageReport {
                tool_name: Some("mcp_everything_echo".to_owned()),
                is_error: Some(true),
                ..said(Speaker::Tool, &"  line\n".repeat(20))
            },
            said(Speaker::Summary, "much was said"),
            MessageReport {
                interrupted: true,
                tool_calls: vec![asked(None)],
                ..said(Speaker::Assistant, "half of an ans")
            },
        ],
    })
}

pub(super) fn delete_session(query: &OneSession) -> Pending<'static, DeletedSession> {
    if query.key.ends_with("main") {
        ready(DeletedSession {
            key: KEY.to_owned(),
        })
    } else {
        unknown("unknown-session", "session of this name", "ask again")
    }
}

pub(super) fn models(ask: bool) -> ModelsReport {
    let model = |agent: &str, model: &str, credentials| ModelReport {
        agent: agent.to_owned(),
        model: model.to_owned(),
        is_fallback: false,
        credentials,
        error: None,
        hint: None,
    };
    let refused = ModelReport {
        error: ask.then(|| format!("the key was refused {HOSTILE}")),
        hint: ask.then(|| "set ANTHROPIC_API_KEY to another key".to_owned()),
        is_fallback: true,
        ..model("main", "anthropic/claude", Credentials::Ok)
    };
    ModelsReport {
        models: vec![
            model("main", "builtin/offline", Credentials::Builtin),
            refused,
            model("ops", "openai/gpt", Credentials::Missing),
            model("help", "openai/gpt", Credentials::Missing),
            ModelReport {
                error: Some("there is no provider `opnai`".to_owned()),
                ..model("lab", "opnai/gpt", Credentials::Ok)
            },
        ],
    }
}
