//! Peers that do not read what they are answered.

use std::pin::pin;
use std::time::Duration;

use futures_util::FutureExt as _;
use h2::RecvStream;
use h2::client::Builder;
use http::Response;
use tokio::time::{Instant, sleep, timeout};

use super::peer::{Peer, get, rest};
use crate::harness::{Running, SOON, Wanted};
use crate::schema;

/// How much of a stream may come before it is read.
const WINDOW: usize = 64 * 1024;

/// A peer that reads what comes over its connection, but not what comes in one of its streams.
async fn selective(gateway: &Running) -> Peer {
    let mut builder = Builder::new();
    builder.initial_connection_window_size(1 << 30);
    builder.initial_window_size(WINDOW.try_into().unwrap());
    Peer::with(gateway.address, &builder).await
}

/// How an answer ends of which nothing is released that still comes.
async fn given_up(mut body: RecvStream) -> h2::Error {
    let ended = async {
        loop {
            match body.data().await {
                Some(Ok(_)) => {}
                Some(Err(error)) => break error,
                None => panic!("all of it came"),
            }
        }
    };
    let ended = timeout(Duration::from_mins(2), ended).await;
    ended.expect("it is still there")
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_read_is_given_up_after_half_a_minute_and_no_other() {
    let gateway = Running::start().await;
    let peer = selective(&gateway).await;
    let mut hanging = pin!(peer.begin_call("hang").await);
    let unread = peer.begin_call("large").await.await.unwrap();
    let began = Instant::now();
    let given_up = given_up(unread.into_body());
    // Whatever else it does.
    let asking = async {
        loop {
            assert_eq!(peer.call("echo").await.status(), 200);
            sleep(Duration::from_secs(1)).await;
        }
    };
    let error = tokio::select! {
        error = given_up => error,
        () = asking => unreachable!("it has no end"),
    };
    let waited = began.elapsed().as_secs();
    assert!((29..=33).contains(&waited), "{waited}");
    assert_eq!(error.reason(), Some(h2::Reason::CANCEL), "{error}");
    assert!(error.is_reset() && error.is_remote(), "{error}");
    // Nothing else has come to an end.
    assert_eq!(peer.call("echo").await.status(), 200);
    assert!(hanging.as_mut().now_or_never().is_none());
}

/// Takes an answer up to so many bytes before its end.
async fn take_all_but(left: usize, answer: Response<RecvStream>) -> RecvStream {
    let length = answer.headers()["content-length"].to_str().unwrap();
    let may_come = length.parse::<usize>().unwrap() - left;
    let mut body = answer.into_body();
    let (mut taken, mut released) = (0, 0);
    while taken < may_come {
        let part = body.data().await.expect("the end").unwrap();
        taken += part.len();
        // The window is so large that exactly this may still come.
        let release = part.len().min(may_come - WINDOW - released);
        body.flow_control().release_capacity(release).unwrap();
        released += release;
    }
    body
}

#[tokio::test(start_paused = true)]
async fn an_answer_whose_end_is_left_is_given_up_as_well() {
    let gateway = Running::start().await;
    let peer = selective(&gateway).await;
    let answer = peer.begin_call("large").await.await.unwrap();
    let body = take_all_but(10 * 1024, answer).await;
    let began = Instant::now();
    given_up(body).await;
    let waited = began.elapsed().as_secs();
    assert!((29..=33).contains(&waited), "{waited}");
    assert_eq!(peer.call("echo").await.status(), 200);
}

#[tokio::test]
async fn a_few_bytes_that_are_left_do_not_keep_a_large_answer() {
    // One fits.
    let wanted = Wanted {
        answers_mebibytes: 14,
        ..Wanted::default()
    };
    let gateway = Running::with(wanted).await;
    let peer = selective(&gateway).await;
    for _ in 0..3 {
        let answer = peer.begin_call("large").await.await.unwrap();
        assert_eq!(answer.status(), 200);
        let left = take_all_but(20, answer).await;
        let next = Peer::connect(gateway.address).await;
        assert_eq!(next.call("large").await.status(), 200);
        drop(left);
    }
}

/// Takes an answer, a part of it each time after a pause, until it ends.
async fn taken_slowly(gateway: &Running, part: usize, pause: Duration) -> Result<usize, h2::Error> {
    let mut builder = Builder::new();
    builder.initial_window_size(part.try_into().unwrap());
    builder.initial_connection_window_size(1 << 30);
    let peer = Peer::with(gateway.address, &builder).await;
    let mut body = peer.begin_call("large").await.await?.into_body();
    let (mut length, mut taken) = (0, 0);
    while let Some(data) = body.data().await {
        taken += data?.len();
        if taken >= part {
            sleep(pause).await;
            body.flow_control().release_capacity(taken)?;
            length += std::mem::take(&mut taken);
        }
    }
    Ok(length + taken)
}

#[tokio::test(start_paused = true)]
async fn one_that_reads_slowly_is_waited_for_unless_it_is_next_to_nothing() {
    let gateway = Running::start().await;
    let slowly = taken_slowly(&gateway, 2 << 20, Duration::from_secs(25)).await;
    assert!(slowly.unwrap() > 12 << 20);
    let began = Instant::now();
    let next_to_nothing = taken_slowly(&gateway, WINDOW, Duration::from_secs(25)).await;
    let error = next_to_nothing.unwrap_err();
    assert_eq!(error.reason(), Some(h2::Reason::CANCEL), "{error}");
    assert!(began.elapsed() < Duration::from_secs(90));
}

/// Asks for so many large answers, and takes none of them; their statuses, and what has to be kept for that.
async fn unread_answers(peer: &Peer, count: usize) -> (Vec<u16>, Vec<RecvStream>) {
    let mut asked = Vec::new();
    for _ in 0..count {
        asked.push(peer.begin_call("large").await);
    }
    let (mut statuses, mut kept) = (Vec::new(), Vec::new());
    for response in asked {
        let (head, body) = timeout(SOON, response).await.unwrap().unwrap().into_parts();
        statuses.push(head.status.as_u16());
        // Dropping it would say that nobody wants it.
        kept.push(body);
    }
    statuses.sort_unstable();
    (statuses, kept)
}

#[tokio::test]
async fn one_that_reads_none_of_many_large_answers_holds_up_itself_alone() {
    // Two fit, of 13 MiB each.
    let wanted = Wanted {
        answers_mebibytes: 30,
        ..Wanted::default()
    };
    let gateway = Running::with(wanted).await;
    let peer = Peer::connect(gateway.address).await;
    let (statuses, _kept) = unread_answers(&peer, 3).await;
    assert_eq!(statuses, [200, 500, 500]);
    // Others are answered whatever they ask.
    let next = Peer::connect(gateway.address).await;
    for _ in 0..2 {
        assert_eq!(next.call("large").await.status(), 200);
        let one = gateway.post("/api/mcp/call", r#"{"tool":"large"}"#).await;
        assert_eq!(one.status, 200);
    }
}

#[tokio::test]
async fn more_large_answers_than_there_is_room_for_are_not_kept() {
    // Two fit, of 13 MiB each.
    let wanted = Wanted {
        answers_mebibytes: 30,
        ..Wanted::default()
    };
    let gateway = Running::with(wanted).await;
    let mut peers = Vec::new();
    for _ in 0..2 {
        let peer = Peer::connect(gateway.address).await;
        let (statuses, kept) = unread_answers(&peer, 1).await;
        assert_eq!(statuses, [200]);
        peers.push((peer, kept));
    }
    let next = Peer::connect(gateway.address).await;
    assert_eq!(next.call("echo").await.status(), 200);
    let lost = gateway.post("/api/mcp/call", r#"{"tool":"large"}"#).await;
    schema::check("post", "/api/mcp/call", &lost);
    assert_eq!(lost.json()["error"]["code"], "answer-lost");
    assert_eq!(lost.header("x-should-retry"), Some("false"));
    // Where nothing was done, it can be asked again.
    let wordy = || next.ask(get("/api/mcp/tools?server=wordy"));
    let busy = wordy().await;
    assert_eq!((busy.status(), &*busy.code()), (503, "busy"));
    assert!(busy.header("x-should-retry").is_none());
    for (peer, _) in &peers {
        peer.connection.abort();
    }
    assert_eq!(next.call("large").await.status(), 200);
    assert_eq!(wordy().await.status(), 200);
}

#[tokio::test]
async fn what_anybody_may_have_takes_no_room_from_the_answers_of_others() {
    // One large answer fits.
    let wanted = Wanted {
        answers_mebibytes: 14,
        ..Wanted::default()
    };
    let gateway = Running::with(wanted).await;
    let stranger = Peer::with(gateway.address, Builder::new().initial_window_size(0)).await;
    let mut unread = Vec::new();
    for _ in 0..100 {
        let mut request = get("/openapi.json");
        request.headers_mut().remove("authorization");
        let (response, _) = stranger.begin(request, true).await;
        let response = timeout(SOON, response).await.unwrap().unwrap();
        assert_eq!(response.status(), 200);
        unread.push(response);
    }
    let peer = Peer::connect(gateway.address).await;
    assert_eq!(peer.call("large").await.status(), 200);
    drop(unread);
}

#[tokio::test(start_paused = true)]
async fn one_that_lets_nothing_be_sent_is_cut_off_though_it_has_no_token() {
    let gateway = Running::start().await;
    let peer = Peer::with(gateway.address, Builder::new().initial_window_size(0)).await;
    let mut request = get("/api/status");
    request.headers_mut().remove("authorization");
    let (response, _) = peer.begin(request, true).await;
    let response = response.await.unwrap();
    assert_eq!(response.status(), 401);
    let began = Instant::now();
    assert!(rest(response.into_body()).await.is_err());
    let waited = began.elapsed().as_secs();
    assert!((29..=42).contains(&waited), "{waited}");
}
