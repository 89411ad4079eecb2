//! How the gateway is, for those who watch over it.

mod judgement;

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use http::StatusCode;
use openclaw_engine::{Engine, EngineFailure, Pending};
use serde::Serialize;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::json;
use crate::door::Visitor;
use crate::visit::Visit;
use judgement::{Counts, Judgement, Trouble};

/// How long the engine may take to say how it is.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long somebody waits in all, also for those who asked before.
const WAITING: Duration = Duration::from_secs(5);
/// How long what was found out is good for.
const FRESH: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Status {
    Ok,
    Degraded,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Health<'a> {
    status: Status,
    name: &'static str,
    version: &'static str,
    uptime_ms: u64,
    servers: &'a Counts,
    /// How many things are not as they should be.
    problem_count: usize,
    /// Which, for those who may know.
    #[serde(skip_serializing_if = "Option::is_none")]
    problems: Option<&'a [Trouble]>,
}

/// Says how the gateway is: with numbers, and for those who may know with names and reasons.
pub(super) async fn answer(visit: Visit) -> Response {
    let gateway = &visit.gateway;
    let judged = gateway.judged.now(&*gateway.engine);
    let judgement = timeout(WAITING, judged)
        .await
        .unwrap_or_else(|_| Arc::new(Judgement::of_silence()));
    let problems = judgement.problems.as_slice();
    let status = if problems.is_empty() {
        Status::Ok
    } else {
        Status::Degraded
    };
    let health = Health {
        status,
        name: "openclaw",
        version: gateway.version,
        uptime_ms: gateway.uptime_ms(),
        servers: &judgement.servers,
        problem_count: problems.len(),
        problems: (visit.visitor == Visitor::Known).then_some(problems),
    };
    json(StatusCode::OK, &health)
}

/// How the gateway was when somebody asked last.
///
/// Anybody may ask, and looking at all servers is work: it is done once for all who ask at the same time,
/// and at most once a second.
#[derive(Default)]
pub(crate) struct Judged(Mutex<Option<(Instant, Arc<Judgement>)>>);

impl Judged {
    /// How it is, as of a second ago at most.
    async fn now(&self, engine: &dyn Engine) -> Arc<Judgement> {
        // Held while the engine is asked: whoever asks meanwhile waits for the same answer.
        let mut kept = self.0.lock().await;
        if let Some((since, judgement)) = &*kept
            && since.elapsed() < FRESH
        {
            return Arc::clone(judgement);
        }
        let (statistics, overview) =
            tokio::join!(in_time(engine.statistics()), in_time(engine.overview()));
        let judgement = Arc::new(Judgement::of(statistics, overview));
        *kept = Some((Instant::now(), Arc::clone(&judgement)));
        judgement
    }
}

/// An answer of the engine, if it comes soon enough.
async fn in_time<T>(asked: Pending<'_, T>) -> Result<T, EngineFailure> {
    let answered = timeout(PATIENCE, asked).await;
    answered.unwrap_or_else(|_| Err(judgement::silence()))
}
