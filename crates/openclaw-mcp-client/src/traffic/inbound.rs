//! Where everything that a server sends arrives, whatever carried it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use tokio::task::JoinSet;
use url::Url;

use super::changes::{ChangeGatherer, Changes};
use super::in_flight::{InFlight, Progress};
use super::server_log::ServerLog;
use super::server_requests::{Answer, Asked, Refusal, ask, look_at};
use super::visits::Visits;
use crate::text::shown;
use crate::wire::{Incoming, RawJson, ReplyId, ServerRequestId, error_reply, read_messages, reply};

/// How many questions to persons may be open at once on a connection.
const QUESTIONS: usize = 16;
/// How long the address of a resource may be, or the name of a visit.
const ADDRESS_LIMIT: usize = 8 * 1024;
/// How many resources a server may say that it tells of.
const GRANTED: usize = 10_000;
/// How much of something that can't be read is logged.
const EXCERPT: usize = 200;

/// Takes answers to a server's requests. Never waits: what finds no room is dropped, so that a
/// server which asks without end and never reads can't fill our memory.
pub(crate) trait Outbox: Send + Sync {
    /// Sends a message soon; `false` if there is no room.
    fn send_soon(&self, message: Bytes) -> bool;
}

/// Where a message was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Where everything comes together.
    Shared,
    /// In the answer to this request of ours.
    Request(u64),
}

/// Receives what a server sends.
pub(crate) struct Inbound {
    pub(crate) server: Arc<str>,
    pub(crate) in_flight: Arc<InFlight>,
    pub(crate) changes: ChangeGatherer,
    pub(crate) visits: Visits,
    log: ServerLog,
    roots: Option<Vec<Url>>,
    /// How many things were passed over.
    oddities: AtomicU64,
    questions: Mutex<JoinSet<()>>,
}

#[derive(Deserialize)]
struct ProgressParameters {
    #[serde(rename = "progressToken")]
    token: Value,
    #[serde(default)]
    progress: Option<f64>,
    #[serde(default)]
    total: Option<f64>,
    #[serde(default)]
    message: Option<String>,
}

impl Inbound {
    pub(crate) fn new(server: &str, roots: Option<Vec<Url>>) -> Arc<Self> {
        Arc::new(Self {
            server: server.into(),
            in_flight: InFlight::new(),
            changes: ChangeGatherer::default(),
            visits: Visits::default(),
            log: ServerLog::default(),
            roots,
            oddities: AtomicU64::new(0),
            questions: Mutex::default(),
        })
    }

    /// The roots that are announced.
    pub(crate) fn roots(&self) -> Option<&[Url]> {
        self.roots.as_deref()
    }

    /// How many things that the server sent were passed over.
    pub(crate) fn oddities(&self) -> u64 {
        self.oddities.load(Ordering::Relaxed)
    }

    /// Takes in a message or a batch.
    pub(crate) fn receive(&self, text: &Bytes, source: Source, outbox: &Arc<dyn Outbox>) {
        read_messages(text, |message| match message {
            Ok(Incoming::Reply { id, outcome }) => {
                let id = match (id, source) {
                    // An answer to a request over HTTP needs no identifier to be known as one, and
                    // an error may come from something that could not read it.
                    (ReplyId::Missing, Source::Request(ours)) => ReplyId::Ours(ours),
                    (ReplyId::Foreign, Source::Request(ours)) if outcome.is_err() => {
                        ReplyId::Ours(ours)
                    }
                    (id, _) => id,
                };
                let is_late = matches!(id, ReplyId::Ours(id) if self.in_flight.is_abandoned(id));
                if !is_late && !self.in_flight.deliver(id, Ok(outcome)) {
                    self.pass_over("a reply that nobody waits for", &format_args!("{id:?}"));
                }
            }
            Ok(Incoming::Request { id, method, params }) => {
                self.asked(id, &method, params.as_ref(), source, outbox);
            }
            Ok(Incoming::Notification { method, params }) => {
                self.notified(&method, params.as_ref());
            }
            Err(oddity) => {
                let start = &text[..text.len().min(EXCERPT)];
                self.pass_over(&String::from_utf8_lossy(start), &oddity);
            }
        });
    }

    /// Counts and logs something that can't be used.
    pub(crate) fn pass_over(&self, what: &str, why: &dyn std::fmt::Display) {
        self.oddities.fetch_add(1, Ordering::Relaxed);
        self.log.passed_over(&self.server, what, why);
    }

    fn notified(&self, method: &str, params: Option<&RawJson>) {
        let changed = |changes| self.changes.note(changes);
        match method {
            "notifications/progress" => self.progressed(params),
            "notifications/message" => self.log.write(&self.server, params),
            "notifications/tools/list_changed" => changed(Changes {
                tools: true,
                ..Changes::default()
            }),
            "notifications/resources/list_changed" => changed(Changes {
                resources: true,
                ..Changes::default()
            }),
            "notifications/prompts/list_changed" => changed(Changes {
                prompts: true,
                ..Changes::default()
            }),
            "notifications/resources/updated" => {
                if let Some(uri) = params.and_then(updated_resource) {
                    changed(Changes {
                        updated: [uri].into(),
                        ..Changes::default()
                    });
                }
            }
            "notifications/subscriptions/acknowledged" => self.acknowledged(params),
            // Servers of the second era end subscriptions so.
            "notifications/cancelled" => {
                if let Some(id) = params.and_then(cancelled_request) {
                    self.in_flight.end_background(id);
                }
            }
            "notifications/elicitation/complete" => {
                if let Some(id) = params.and_then(completed_visit) {
                    self.visits.note(id);
                }
            }
            _ => {
                let method = shown(method, EXCERPT);
                tracing::debug!(server = %self.server, "the server sent a notification: {method}");
            }
        }
    }

    /// Notes what a server of the second era tells of from now on.
    fn acknowledged(&self, params: Option<&RawJson>) {
        let granted = params.and_then(granted_resources).unwrap_or_default();
        let is_old = |id: u64| !self.in_flight.is_background(id);
        if granted.subscription.is_some_and(is_old) {
            return;
        }
        // What changed before that was not told.
        self.changes.versions.count_all();
        self.changes.granted.set(granted.resources);
    }

    fn progressed(&self, params: Option<&RawJson>) {
        let Some(found) = params.and_then(|it| it.read::<ProgressParameters>().ok()) else {
            return;
        };
        let id = match &found.token {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        if let Some(id) = id {
            self.in_flight.progressed(id, || {
                Some(Progress {
                    progress: found.progress?,
                    total: found.total,
                    message: found.message,
                })
            });
        }
    }

    fn asked(
        &self,
        id: ServerRequestId,
        method: &str,
        params: Option<&RawJson>,
        source: Source,
        outbox: &Arc<dyn Outbox>,
    ) {
        match look_at(method, params, self.roots()) {
            Asked::Answered(answer) => self.answer(&id, answer, outbox.as_ref()),
            Asked::Person(question) => {
                let mut questions = self
                    .questions
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                while questions.try_join_next().is_some() {}
                if questions.len() >= QUESTIONS {
                    drop(questions);
                    self.pass_over("a question", &"too many are open");
                    self.answer(&id, Err(Refusal::Busy), outbox.as_ref());
                    return;
                }
                let call = match source {
                    Source::Shared => None,
                    Source::Request(call) => Some(call),
                };
                let person = self.in_flight.person(call);
                let outbox = outbox.clone();
                questions.spawn(async move {
                    let answer = match person {
                        Some((person, thinking)) => tokio::select! {
                            answer = ask(Some(&person), question) => answer,
                            // Whoever wanted to know is gone, and so is the question.
                            () = thinking.ended() => return,
                        },
                        None => ask(None, question).await,
                    };
                    if let Ok(message) = reply(&id, &answer) {
                        outbox.send_soon(message);
                    }
                });
            }
        }
    }

    fn answer(&self, id: &ServerRequestId, answer: Answer, outbox: &dyn Outbox) {
        let message = match answer {
            Ok(result) => reply(id, &result),
            Err(refusal) => error_reply(id, refusal.code(), refusal.message()),
        };
        let sent = message.is_ok_and(|message| outbox.send_soon(message));
        if !sent {
            self.pass_over("a request", &"there is no room for its answer");
        }
    }
}

fn cancelled_request(params: &RawJson) -> Option<u64> {
    #[derive(Deserialize)]
    struct Cancelled {
        #[serde(rename = "requestId")]
        id: Value,
    }
    match params.read::<Cancelled>().ok()?.id {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn completed_visit(params: &RawJson) -> Option<String> {
    #[derive(Deserialize)]
    struct Completed {
        #[serde(rename = "elicitationId")]
        id: String,
    }
    let id = params.read::<Completed>().ok()?.id;
    (id.len() <= ADDRESS_LIMIT).then_some(id)
}

/// What a subscription of the second era covers.
#[derive(Default)]
struct GrantedResources {
    /// The request that it is, where the server says so.
    subscription: Option<u64>,
    resources: BTreeSet<String>,
}

fn granted_resources(params: &RawJson) -> Option<GrantedResources> {
    #[derive(Deserialize)]
    struct Acknowledged {
        #[serde(default)]
        notifications: Filter,
        #[serde(rename = "_meta", default)]
        meta: Option<Meta>,
    }
    #[derive(Default, Deserialize)]
    struct Filter {
        #[serde(rename = "resourceSubscriptions", default)]
        resources: Option<Vec<String>>,
    }
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "io.modelcontextprotocol/subscriptionId", default)]
        subscription: Option<Value>,
    }
    let found = params.read::<Acknowledged>().ok()?;
    let resources = found.notifications.resources.unwrap_or_default();
    let subscription = found.meta.and_then(|meta| meta.subscription);
    Some(GrantedResources {
        subscription: subscription.and_then(|id| match id {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        }),
        resources: resources
            .into_iter()
            .filter(|uri| uri.len() <= ADDRESS_LIMIT)
            .take(GRANTED)
            .collect(),
    })
}

fn updated_resource(params: &RawJson) -> Option<String> {
    #[derive(Deserialize)]
    struct Updated {
        uri: String,
    }
    let uri = params.read::<Updated>().ok()?.uri;
    (uri.len() <= ADDRESS_LIMIT).then_some(uri)
}
