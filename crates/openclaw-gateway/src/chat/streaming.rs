//! A turn as a stream of events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use openclaw_engine::{ReplyPart, ReplyReport, UsageReport};
use openclaw_telemetry::within;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument as _;

use super::completions::{Turn, carry_out};
use super::meaning::{SESSION, header};
use super::outbox::{Next, Outbox};
use super::problem::Problem;
use super::shapes::{Counted, Naming};

/// How long the head of the answer is held back, so that a turn that fails before it says or does
/// anything fails with a status.
const HEAD: Duration = Duration::from_secs(5);
/// How often something is sent while the turn says nothing, so that nobody on the way gives up on it.
const SILENCE: Duration = Duration::from_secs(15);
/// What ends a stream that came to its end.
const DONE: &str = "[DONE]";

/// Answers with a stream. The turn runs by itself, so that a client that reads slowly does not hold it
/// up, and ends at once when the stream is dropped.
pub(super) async fn stream(turn: Turn, include_usage: bool) -> Result<Response, Problem> {
    let Turn {
        engine,
        request,
        naming,
        given_key,
        room,
        trace,
    } = turn;
    let outbox = Arc::new(Outbox::default());
    let running = {
        let outbox = Arc::clone(&outbox);
        let turn = async move {
            let outcome = within(trace, carry_out(&*engine, request, &*outbox)).await;
            drop(room);
            outbox.end(outcome);
        };
        AbortOnDropHandle::new(tokio::spawn(turn.in_current_span()))
    };
    // Whether it has begun by then makes no difference: it can be told later, too.
    let _ = timeout(HEAD, outbox.opened()).await;
    if let Some(failure) = outbox.failed_at_once() {
        return Err(Problem::of(&failure));
    }
    let key = outbox.session().or(given_key);
    let streaming = Streaming {
        outbox,
        _running: running,
        naming,
        include_usage,
        counted: Counted::default(),
        queue: VecDeque::from([Piece::Role]),
        is_over: false,
    };
    let events = stream::unfold(streaming, |mut streaming| async move {
        let event = streaming.next().await?;
        Some((Ok::<_, Infallible>(event), streaming))
    });
    let keep_alive = KeepAlive::new().interval(SILENCE);
    let mut response = Sse::new(events).keep_alive(keep_alive).into_response();
    if let Some(key) = key.as_deref().and_then(header) {
        response.headers_mut().insert(SESSION, key);
    }
    Ok(response)
}

/// Something that is sent. It becomes JSON when its turn comes: media are large.
enum Piece {
    Role,
    Media(ReplyPart),
    Finish { cut_off: bool },
    Usage(Option<UsageReport>),
    Done,
    Problem(Problem),
}

struct Streaming {
    outbox: Arc<Outbox>,
    /// The turn: dropping it stops it.
    _running: AbortOnDropHandle<()>,
    naming: Naming,
    include_usage: bool,
    counted: Counted,
    queue: VecDeque<Piece>,
    is_over: bool,
}

impl Streaming {
    async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some(piece) = self.queue.pop_front() {
                if let Some(event) = self.event(&piece) {
                    return Some(event);
                }
            }
            if self.is_over {
                return None;
            }
            match self.outbox.next().await {
                Next::Text(text) => return Some(self.chunk(self.naming.text(&text))),
                Next::End(outcome) => {
                    self.is_over = true;
                    match *outcome {
                        Ok(report) => self.end(report),
                        Err(failure) => self.queue.push_back(Piece::Problem(
                            Problem::of(&failure).after_calls(self.outbox.has_called()),
                        )),
                    }
                }
            }
        }
    }

    /// What follows the last text.
    fn end(&mut self, report: ReplyReport) {
        self.queue
            .extend(report.parts.into_iter().map(Piece::Media));
        self.queue.push_back(Piece::Finish {
            cut_off: report.cut_off,
        });
        if self.include_usage {
            self.queue.push_back(Piece::Usage(report.usage));
        }
        self.queue.push_back(Piece::Done);
    }

    fn event(&mut self, piece: &Piece) -> Option<Event> {
        let naming = &self.naming;
        Some(match piece {
            Piece::Role => self.chunk(naming.role()),
            Piece::Media(part) => {
                let chunk = naming.media(part, &mut self.counted)?;
                self.chunk(chunk)
            }
            Piece::Finish { cut_off } => self.chunk(naming.finish(*cut_off)),
            Piece::Usage(usage) => event(&naming.usage(*usage)),
            Piece::Done => Event::default().data(DONE),
            Piece::Problem(problem) => event(&problem.json()),
        })
    }

    /// A chunk. Where the cost follows, all others say that they do not have it.
    fn chunk(&self, mut chunk: serde_json::Value) -> Event {
        if self.include_usage
            && let Some(chunk) = chunk.as_object_mut()
        {
            chunk.insert("usage".to_owned(), serde_json::Value::Null);
        }
        event(&chunk)
    }
}

fn event(value: &serde_json::Value) -> Event {
    Event::default().data(value.to_string())
}
