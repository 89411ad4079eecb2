//! Editors that do not read.

use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use crate::editor::{DEADLINE, start, until};
use crate::engine::FakeEngine;

/// How much of a flood is heard at most before somebody reads: what may wait, what is on its way, and what a
/// pipe holds, in pieces of 64 KiB.
const MOST: usize = (16 + 1 + 1) * 16 + 16;

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_waits_for_an_editor_that_does_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let engine: Arc<FakeEngine> = Arc::default();
    let state = directory.path().join("state");
    let (served, mut writer, reader) = start(&engine, &state);
    let mut reader = BufReader::new(reader);
    let mut send = |id: u32, method: &str, params: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(writer, "{message}").unwrap();
    };
    let mut read = || {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    send(1, "initialize", json!({ "protocolVersion": 1 }));
    read();
    send(2, "session/new", json!({ "cwd": "/", "mcpServers": [] }));
    let session = read()["result"]["sessionId"].clone();
    let prompt = json!([{ "type": "text", "text": "flood" }]);
    send(
        3,
        "session/prompt",
        json!({ "sessionId": session, "prompt": prompt }),
    );
    let heard = || engine.heard.load(Ordering::SeqCst);
    until("the queue is full", || heard() > 16 * 16 - 2).await;
    // Nothing more is said than fits.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let full = heard();
    assert!(full <= MOST, "{full}");
    // It goes on when somebody reads.
    let mut bytes = 0;
    while bytes < 4 * 1024 * 1024 {
        bytes += read().to_string().len();
    }
    until("it goes on", || heard() > full).await;
    assert!(heard() <= full + MOST, "{}", heard());
    // It can be stopped, though nobody reads.
    let message = json!({
        "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session }
    });
    writeln!(writer, "{message}").unwrap();
    until("the turn is stopped", || {
        engine.running.load(Ordering::SeqCst) == 0
    })
    .await;
    let answer = loop {
        let line = read();
        if line["id"] == 3 {
            break line;
        }
    };
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    drop(writer);
    let served = tokio::time::timeout(DEADLINE, served).await;
    served.unwrap().unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_stopped_when_nobody_reads_for_a_minute() {
    let directory = tempfile::tempdir().unwrap();
    let engine: Arc<FakeEngine> = Arc::default();
    let state = directory.path().join("state");
    let (served, mut writer, reader) = start(&engine, &state);
    let mut reader = BufReader::new(reader);
    for (id, method, params) in [
        (1, "initialize", json!({ "protocolVersion": 1 })),
        (2, "session/new", json!({ "cwd": "/", "mcpServers": [] })),
    ] {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(writer, "{message}").unwrap();
    }
    // The clock stands still while a thread reads.
    let reading = tokio::task::spawn_blocking(move || {
        let mut lines = [String::new(), String::new()];
        for line in &mut lines {
            reader.read_line(line).unwrap();
        }
        (reader, serde_json::from_str::<Value>(&lines[1]).unwrap())
    });
    let (reader, answer) = reading.await.unwrap();
    let prompt = json!([{ "type": "text", "text": "flood" }]);
    let params = json!({ "sessionId": answer["result"]["sessionId"], "prompt": prompt });
    let message = json!({
        "jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": params
    });
    writeln!(writer, "{message}").unwrap();
    let begun = tokio::time::Instant::now();
    let running = || engine.running.load(Ordering::SeqCst);
    while running() == 0 {
        tokio::task::yield_now().await;
    }
    while running() == 1 && begun.elapsed() < Duration::from_mins(10) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(running(), 0);
    assert!(begun.elapsed() >= Duration::from_mins(1));
    drop(writer);
    served.await.unwrap().unwrap();
    drop(reader);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_drops_the_agent_stops_its_turns() {
    let directory = tempfile::tempdir().unwrap();
    let engine: Arc<FakeEngine> = Arc::default();
    let state = directory.path().join("state");
    let (served, mut writer, reader) = start(&engine, &state);
    let mut reader = BufReader::new(reader);
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": 1 }
    });
    let new = json!({
        "jsonrpc": "2.0", "id": 2, "method": "session/new",
        "params": { "cwd": "/", "mcpServers": [] }
    });
    writeln!(writer, "{hello}\n{new}").unwrap();
    let mut line = String::new();
    for _ in 0..2 {
        line.clear();
        reader.read_line(&mut line).unwrap();
    }
    let answer: Value = serde_json::from_str(&line).unwrap();
    let session = &answer["result"]["sessionId"];
    let prompt = json!([{ "type": "text", "text": "hang" }]);
    let prompt = json!({
        "jsonrpc": "2.0", "id": 3, "method": "session/prompt",
        "params": { "sessionId": session, "prompt": prompt }
    });
    writeln!(writer, "{prompt}").unwrap();
    let running = || engine.running.load(Ordering::SeqCst);
    until("the turn runs", || running() == 1).await;
    served.abort();
    until("the turn is stopped", || running() == 0).await;
    drop(writer);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editor_that_has_gone_without_reading_is_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let engine: Arc<FakeEngine> = Arc::default();
    let state = directory.path().join("state");
    let (served, mut writer, reader) = start(&engine, &state);
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": 1 }
    });
    drop(reader);
    writeln!(writer, "{hello}").unwrap();
    let served = tokio::time::timeout(DEADLINE, served).await;
    served.unwrap().unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_not_told_to_its_end_is_cancelled() {
    let directory = tempfile::tempdir().unwrap();
    let engine: Arc<FakeEngine> = Arc::default();
    let state = directory.path().join("state");
    let (served, mut writer, reader) = start(&engine, &state);
    let mut reader = BufReader::new(reader);
    let mut read = || {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    let mut send = |message: Value| writeln!(writer, "{message}").unwrap();
    let asked = |id: u32, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    send(asked(1, "initialize", json!({ "protocolVersion": 1 })));
    read();
    let new = json!({ "cwd": "/", "mcpServers": [] });
    send(asked(2, "session/new", new));
    let session = read()["result"]["sessionId"].clone();
    let prompt = json!([{ "type": "text", "text": "much" }]);
    let prompt = json!({ "sessionId": session, "prompt": prompt });
    send(asked(3, "session/prompt", prompt));
    until("the agent has answered", || {
        !engine.asked().is_empty() && engine.running.load(Ordering::SeqCst) == 0
    })
    .await;
    let params = json!({ "sessionId": session });
    send(json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": params }));
    // Messages are taken in their order: when this one is, the one before it is known.
    send(asked(4, "session/list", json!({})));
    until("the cancellation is known", || {
        engine.looked_up.load(Ordering::SeqCst) > 0
    })
    .await;
    let mut bytes = 0;
    let answer = loop {
        let line = read();
        bytes += line.to_string().len();
        if line["id"] == 3 {
            break line;
        }
    };
    assert!(bytes < 4 * 1024 * 1024, "{bytes}");
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    drop(writer);
    let served = tokio::time::timeout(DEADLINE, served).await;
    served.unwrap().unwrap().unwrap();
}
