//! Calls of tools.

use std::sync::Arc;
use std::time::Instant;

use axum::response::Response;
use http::StatusCode;
use openclaw_engine::{Blame, CallArguments, CallReport, CallRequest, EngineFailure};
use openclaw_telemetry::within;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{CALL_BODY, json as answer_json};
use crate::body;
use crate::entrance::{correlation, trace};
use crate::luggage::Refused;
use crate::problem::Problem;
use crate::visit::Visit;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    tool: String,
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    framed: bool,
}

/// Calls a tool. Whoever goes away takes the call along: the answer is dropped, which withdraws it.
pub(super) async fn answer(visit: Visit) -> Result<Response, Problem> {
    let correlation = correlation(visit.request.headers());
    let trace = trace(visit.request.headers());
    let peer = Arc::clone(&visit.peer);
    let (gateway, head, body) = visit.into_parts();
    let taken_in = peer.calls.take_in(&head.headers, body, CALL_BODY).await;
    // Held until the call is over: what it is called with stays in memory.
    let (body, room) = taken_in.map_err(|refused| match refused {
        Refused::Full => busy(),
        Refused::Incomplete(incomplete) => incomplete.problem(CALL_BODY),
    })?;
    let (wanted, _room): (Wanted, _) = body::parsed(body, room).await?;
    let tool = wanted.tool.clone();
    let request = CallRequest {
        agent: wanted.agent,
        tool: wanted.tool,
        arguments: CallArguments {
            object: wanted.arguments.unwrap_or_default(),
            words: Vec::new(),
        },
        // Nobody says that a person is behind this: the configuration decides about tools that need one's
        // consent.
        approved: false,
        framed: wanted.framed,
        correlation,
    };
    let began = Instant::now();
    match within(trace, gateway.engine.call(request)).await {
        Ok(report) => Ok(answer_json(StatusCode::OK, &report)),
        Err(failure) if failure.blame == Blame::Operation => Ok(answer_json(
            StatusCode::OK,
            &Undone::new(tool, failure, began),
        )),
        Err(failure) => Err(failure.into()),
    }
}

fn busy() -> Problem {
    let message = "too many large requests are being answered";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
        .hint("nothing was done; try again later")
}

/// A call that was answered with why it was not done: in the shape of those that were, so that programs
/// have to look in one place.
#[derive(Serialize)]
struct Undone {
    #[serde(flatten)]
    report: CallReport,
    error: Value,
}

impl Undone {
    fn new(tool: String, failure: EngineFailure, began: Instant) -> Self {
        let spelled = tool.split_once('/').map(|(server, _)| server.to_owned());
        let report = CallReport {
            server: failure.server.clone().or(spelled).unwrap_or_default(),
            tool,
            is_error: true,
            content: vec![json!({ "type": "text", "text": failure.message })],
            structured_content: None,
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            framed: None,
        };
        let mut problem = Problem::from(failure).json();
        Self {
            report,
            error: problem["error"].take(),
        }
    }
}
