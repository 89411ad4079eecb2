//! Where orders are carried out: side by side, those of one session one after the other, and none
//! longer than somebody waits for it.

use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use openclaw_engine::{
    Audience, EngineFailure, ReplyEngine, ReplyEvent, ReplyReport, ReplyRequest, SessionChoice,
    ToolConsent, ToolQuestion,
};
use openclaw_telemetry::{TraceContext, within};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::admission::Admitted;
use crate::lanes::{Lane, Lanes};
use crate::order::Order;
use crate::progress::{Progress, Teller};
use crate::reply::{Gathering, blocks};

/// How sessions are named that are begun for one order.
const FRESH: &str = "mcp";
/// How many MiB of attachments agents are given at once. Whoever brings more waits: each is held in
/// memory while a model is asked.
const MOST_LUGGAGE: u32 = 320;
/// How long orders may go on after nothing more comes in. A client that has gone does not need their
/// replies; one that has only said all it wants to say does.
const GRACE: Duration = Duration::from_secs(1);

/// An order, and whoever waits for it.
pub(crate) struct Job {
    pub(crate) order: Order,
    /// Its place among those under way.
    pub(crate) admitted: Admitted,
    /// Told when the client gives up on it.
    pub(crate) cancelled: CancellationToken,
    /// The trace of the client that it belongs to.
    pub(crate) trace: Option<TraceContext>,
    /// How the client wants to be told of progress.
    pub(crate) progress: Option<(Peer<RoleServer>, ProgressToken)>,
    pub(crate) answer: oneshot::Sender<CallToolResult>,
}

/// Carries out orders.
pub(crate) struct Desk<'e> {
    engine: &'e dyn ReplyEngine,
    /// Who answers where a session does not say so, if that is not the default one.
    agent: Option<String>,
    /// Who answers then.
    usual_agent: String,
    /// How the lines of a log are told from those of others.
    correlation: String,
    luggage: Semaphore,
    /// Told when orders under way have to end.
    stop: CancellationToken,
}

impl<'e> Desk<'e> {
    pub(crate) fn new(
        engine: &'e dyn ReplyEngine,
        agent: Option<String>,
        default_agent: String,
        correlation: String,
    ) -> Self {
        let permits = usize::try_from(MOST_LUGGAGE).unwrap_or(usize::MAX);
        Self {
            engine,
            usual_agent: agent.clone().unwrap_or(default_agent),
            agent,
            correlation,
            luggage: Semaphore::new(permits),
            stop: CancellationToken::new(),
        }
    }

    /// Carries out orders until the protocol is over. Dropping it stops them all.
    pub(crate) async fn run<T>(
        &self,
        mut jobs: mpsc::UnboundedReceiver<Job>,
        protocol: impl Future<Output = T>,
        ended: &CancellationToken,
    ) -> T {
        let mut protocol = std::pin::pin!(protocol);
        let mut lanes = Lanes::new(self.usual_agent.clone());
        let mut turns = FuturesUnordered::new();
        let mut number: u64 = 0;
        let mut end = None;
        loop {
            tokio::select! {
                result = &mut protocol => return result,
                Some(job) = jobs.recv() => {
                    number += 1;
                    let lane = lanes.enter(job.order.session.as_deref());
                    let correlation = format!("{}-{number}", self.correlation);
                    let span = tracing::info_span!("order", id = correlation);
                    turns.push(self.turn(job, lane, correlation).instrument(span));
                }
                Some(()) = turns.next(), if !turns.is_empty() => {}
                () = ended.cancelled(), if end.is_none() => end = Some(Instant::now() + GRACE),
                () = sleep_until(end), if end.is_some() && !self.stop.is_cancelled() => {
                    self.stop.cancel();
                }
            }
        }
    }

    async fn turn(&self, job: Job, lane: Lane, correlation: String) {
        let begun = Instant::now();
        let Job {
            order,
            admitted,
            cancelled,
            trace,
            progress,
            answer,
        } = job;
        tracing::debug!(
            length = order.message.len(),
            attachments = order.attachments.len(),
            bytes = order.bytes,
            has_session = order.session.is_some(),
            "an order"
        );
        let hearing = Hearing::default();
        let mut teller = progress.map(|(peer, token)| Teller::new(peer, token));
        let carried_out = self.carry_out(order, lane, correlation, &hearing);
        let carried_out = AssertUnwindSafe(within(trace, carried_out));
        let telling = async {
            match &mut teller {
                Some(teller) => teller.tell(&hearing.progress).await,
                None => std::future::pending().await,
            }
        };
        let result = tokio::select! {
            biased;
            () = cancelled.cancelled() => {
                tracing::info!("the client has given up on the order");
                return;
            }
            () = self.stop.cancelled() => Err(left_alone()),
            result = carried_out.catch_unwind() => result.unwrap_or_else(|_| Err(broken())),
            () = telling => return,
        };
        if let Some(teller) = teller {
            teller.finish(&hearing.progress).await;
        }
        let gathering = hearing.gathering.into_inner();
        let gathering = gathering.unwrap_or_else(PoisonError::into_inner);
        let code = result.as_ref().err().map(|failure| failure.code.clone());
        // What goes back may be large, and others wait for this thread.
        let result = spawn_blocking(move || put_together(gathering, result)).await;
        let result = result.unwrap_or_else(|_| put_together(Gathering::default(), Err(broken())));
        tracing::info!(
            code = code.as_deref(),
            parts = result.content.len(),
            milliseconds = begun.elapsed().as_millis(),
            "an order is answered"
        );
        drop(admitted);
        // Whoever no longer waits for it finds it in the session.
        let _ = answer.send(result);
    }

    async fn carry_out(
        &self,
        order: Order,
        mut lane: Lane,
        correlation: String,
        hearing: &Hearing,
    ) -> Result<ReplyReport, EngineFailure> {
        lane.wait().await;
        let mebibytes = u32::try_from(order.bytes.div_ceil(1 << 20)).unwrap_or(u32::MAX);
        let permits = mebibytes.min(MOST_LUGGAGE);
        // It is never closed.
        let _held = self.luggage.acquire_many(permits).await.ok();
        let request = ReplyRequest {
            agent: self.agent.clone(),
            session: match order.session {
                Some(key) => SessionChoice::Key(key),
                None => SessionChoice::Fresh(FRESH.to_owned()),
            },
            message: order.message,
            attachments: order.attachments,
            model: None,
            approved: false,
            correlation,
            ..ReplyRequest::default()
        };
        self.engine.reply(request, hearing).await
    }
}

/// The result of an order: what was said, or why it was not.
fn put_together(
    gathering: Gathering,
    result: Result<ReplyReport, EngineFailure>,
) -> CallToolResult {
    match result {
        Ok(report) => CallToolResult::success(blocks(gathering.complete(&report))),
        Err(failure) => {
            let hint = failure.hint.as_deref();
            CallToolResult::error(blocks(gathering.failed(&failure.message, hint)))
        }
    }
}

async fn sleep_until(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end).await,
        None => std::future::pending().await,
    }
}

/// The failure for an order that nobody waits for any longer.
fn left_alone() -> EngineFailure {
    EngineFailure::operation(
        "closed",
        "the client closed the connection, so the agent was stopped",
    )
}

/// The failure for an order in which we failed ourselves; what it was is said elsewhere.
fn broken() -> EngineFailure {
    EngineFailure::operation(
        "internal",
        "OpenClaw failed, which is a bug; its log says more",
    )
}

/// Hears what an agent does for an order. Nobody is there to be asked.
#[derive(Default)]
struct Hearing {
    gathering: Mutex<Gathering>,
    progress: Progress,
}

impl Audience for Hearing {
    fn hear(&self, event: ReplyEvent) {
        self.progress.hear(&event);
        let gathering = self.gathering.lock();
        gathering
            .unwrap_or_else(PoisonError::into_inner)
            .hear(event);
    }

    fn can_answer(&self) -> bool {
        false
    }

    fn approve(
        &self,
        _question: ToolQuestion,
    ) -> std::pin::Pin<Box<dyn Future<Output = ToolConsent> + Send + '_>> {
        Box::pin(std::future::ready(ToolConsent::No))
    }
}
