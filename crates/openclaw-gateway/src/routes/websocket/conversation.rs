//! What is said over one WebSocket, from the first message to the last.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Error;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use openclaw_link::hand_over;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::{Instant, interval_at, timeout};

use super::{ANSWER, Guest, STRANGER, no_place};
use crate::door::Visitor;
use crate::problem::Problem;
use crate::state::Gateway;

/// How long the first message may take, where it has to bring the credential.
const INTRODUCTION: Duration = Duration::from_secs(5);
/// How often a peer is asked whether it is still there.
const PING: Duration = Duration::from_secs(30);
/// How many of these questions may stay without an answer.
const UNANSWERED: u32 = 2;
/// How long a peer may take to read one message, as long as it reads at all.
const READING: Duration = Duration::from_mins(1);
/// How long the last message may take.
const FAREWELL: Duration = Duration::from_millis(300);
/// How many messages wait to be taken up, and to be written: a few small ones, or one that is large. The link
/// counts what waits there, and no longer what is here.
const WAITING: usize = 16;

type Sending = SplitSink<WebSocket, Message>;
type Receiving = SplitStream<WebSocket>;

/// Why a conversation ends.
enum End {
    /// The peer has gone, or does not read.
    Gone,
    /// We have to say why.
    Said(u16, &'static str),
}

/// Talks until somebody ends it.
pub(super) async fn hold(gateway: &Gateway, socket: WebSocket, mut guest: Guest) {
    let (mut sending, mut receiving) = socket.split();
    let end = tokio::select! {
        () = gateway.stop.cancelled() => End::Said(close_code::AWAY, "the gateway is stopping"),
        end = talk(gateway, &mut sending, &mut receiving, &mut guest) => end,
    };
    if let End::Said(code, reason) = end {
        let frame = CloseFrame {
            code,
            reason: Utf8Bytes::from_static(reason),
        };
        // The peer answers with the same; waiting for that keeps what was said last from being lost.
        let farewell = async {
            sending.send(Message::Close(Some(frame))).await?;
            while let Some(Ok(_)) = receiving.next().await {}
            Ok::<_, Error>(())
        };
        let _ = timeout(FAREWELL, farewell).await;
    }
}

async fn talk(
    gateway: &Gateway,
    sending: &mut Sending,
    receiving: &mut Receiving,
    guest: &mut Guest,
) -> End {
    if guest.visitor == Visitor::Anybody {
        let introduced = match timeout(INTRODUCTION, receiving.next()).await {
            Err(_) => Err(Problem::bad_request("no credential came in time")),
            Ok(Some(Ok(Message::Text(text)))) => introduction(gateway, &text, guest),
            Ok(Some(Ok(_))) => Err(not_introduced()),
            Ok(_) => return End::Gone,
        };
        if let Err(problem) = introduced {
            let mut refusal = problem.json();
            refusal["type"] = "refused".into();
            let refusal = Message::text(refusal.to_string());
            let _ = timeout(READING, sending.send(refusal)).await;
            return End::Said(close_code::POLICY, "not let in");
        }
    }
    let welcome = json!({
        "type": "welcome",
        "name": "openclaw",
        "version": gateway.version,
        "protocol": openclaw_link::PROTOCOL,
    });
    let welcome = Message::text(welcome.to_string());
    if !matches!(timeout(READING, sending.send(welcome)).await, Ok(Ok(()))) {
        return End::Gone;
    }
    let (asked, questions) = mpsc::channel(WAITING);
    let (answers, answered) = mpsc::channel(WAITING);
    let unanswered = AtomicU32::new(0);
    let answering =
        openclaw_link::serve_texts(Arc::clone(&gateway.engine), questions, answers, ANSWER);
    let answering = async {
        answering.await;
        // What was answered last is still being written, and that ends it.
        std::future::pending::<End>().await
    };
    tokio::select! {
        // In this order, what came together is taken up together and answered together.
        biased;
        end = read(receiving, asked, &unanswered) => end,
        end = answering => end,
        end = write(sending, answered, &unanswered) => end,
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Introduction {
    Auth { token: String },
}

/// Lets somebody in who says who they are, and gives them a place among those who are.
fn introduction(gateway: &Gateway, text: &str, guest: &mut Guest) -> Result<(), Problem> {
    let Ok(Introduction::Auth { token }) = serde_json::from_str(text) else {
        return Err(not_introduced());
    };
    gateway.door.admit_token(&token, guest.from)?;
    let place = Arc::clone(&gateway.websockets).try_acquire_owned();
    guest.place = place.map_err(|_| no_place())?;
    guest.peer.allowance.lift();
    Ok(())
}

fn not_introduced() -> Problem {
    Problem::bad_request("the first message is `{\"type\":\"auth\",\"token\":\"…\"}`")
}

/// Hands on what comes. While it can't be, nothing more is read, which slows down the peer alone.
async fn read(
    receiving: &mut Receiving,
    asked: mpsc::Sender<String>,
    unanswered: &AtomicU32,
) -> End {
    let mut is_first = true;
    while let Some(message) = receiving.next().await {
        unanswered.store(0, Ordering::Relaxed);
        let text = match message {
            Ok(Message::Text(text)) => text,
            Ok(Message::Ping(_) | Message::Pong(_)) => continue,
            Ok(Message::Binary(_)) => {
                return End::Said(close_code::UNSUPPORTED, "messages are texts");
            }
            Ok(Message::Close(_)) => return End::Gone,
            Err(_) => return End::Said(close_code::PROTOCOL, "a message could not be read"),
        };
        // Pages introduce themselves without knowing whether they have to.
        let may_introduce = std::mem::take(&mut is_first) && text.len() <= STRANGER;
        if may_introduce && serde_json::from_str::<Introduction>(&text).is_ok() {
            continue;
        }
        if !hand_over(&asked, text.as_str().to_owned()).await {
            // Nothing more is answered, and why is being written.
            return std::future::pending().await;
        }
    }
    End::Gone
}

/// Writes what is answered, and asks from time to time whether somebody is still there.
async fn write(
    sending: &mut Sending,
    mut answered: mpsc::Receiver<String>,
    unanswered: &AtomicU32,
) -> End {
    let mut pings = interval_at(Instant::now() + PING, PING);
    loop {
        let message = tokio::select! {
            answer = answered.recv() => match answer {
                Some(answer) => Message::text(answer),
                None => return End::Said(close_code::NORMAL, "nothing more is answered"),
            },
            _ = pings.tick() => {
                if unanswered.fetch_add(1, Ordering::Relaxed) >= UNANSWERED {
                    return End::Gone;
                }
                Message::Ping(Bytes::new())
            }
        };
        let writing = async {
            sending.feed(message).await?;
            // What others answer at the same moment goes along: a packet for each costs more than all the rest.
            yield_now().await;
            for _ in 1..WAITING {
                let Ok(answer) = answered.try_recv() else {
                    break;
                };
                sending.feed(Message::text(answer)).await?;
            }
            sending.flush().await
        };
        if !matches!(timeout(READING, writing).await, Ok(Ok(()))) {
            return End::Gone;
        }
    }
}
