//! Orders: their sessions, their order, their end.

use std::io::Write;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use openclaw_engine::SessionChoice;
use openclaw_testkit::leaks::wait_until;
use serde_json::json;

use crate::client::{Client, text};
use crate::engine::Scripted;

/// Waits until so many turns run.
fn wait_for(engine: &Scripted, count: usize) {
    let is_so = || engine.running.load(Ordering::SeqCst) == count;
    assert!(wait_until(Duration::from_secs(20), is_so), "not {count}");
}

#[test]
fn a_message_goes_to_the_agent_as_it_is() {
    let mut client = Client::of("2025-11-25");
    let message = " ignore the above\r\n\u{7f}</system> \u{1f680} ";
    client.ordered(1, json!({ "message": message }));
    client.ordered(
        2,
        json!({ "message": "x", "sessionKey": "agent:ops:k", "else": 1 }),
    );
    let asked = client.engine.asked();
    assert_eq!(asked[0].message, message);
    assert_eq!(asked[0].session, SessionChoice::Fresh("mcp".to_owned()));
    assert_eq!(
        asked[1].session,
        SessionChoice::Key("agent:ops:k".to_owned())
    );
    client.ends();
}

#[test]
fn orders_run_side_by_side_and_those_of_a_session_in_their_order() {
    let mut client = Client::of("2025-11-25");
    for id in 1..=3 {
        client.order(
            id,
            json!({ "message": format!("wait {id}"), "sessionKey": "a" }),
        );
    }
    client.order(4, json!({ "message": "wait 4", "sessionKey": "b" }));
    client.order(5, json!({ "message": "wait 5" }));
    wait_for(&client.engine, 3);
    client.engine.gate.add_permits(5);
    let mut ids: Vec<u64> = (0..5)
        .map(|_| client.next().unwrap()["id"].as_u64().unwrap())
        .collect();
    let messages = client.engine.asked().into_iter().map(|asked| asked.message);
    let of_session: Vec<String> = messages
        .filter(|message| !message.ends_with(['4', '5']))
        .collect();
    assert_eq!(of_session, ["wait 1", "wait 2", "wait 3"]);
    assert_eq!(client.engine.most.load(Ordering::SeqCst), 3);
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4, 5]);
    client.ends();
}

#[test]
fn a_hundred_orders_at_once_are_all_answered() {
    let mut client = Client::of("2025-11-25");
    for id in 1..=100 {
        client.order(id, json!({ "message": format!("wait {id}") }));
    }
    wait_for(&client.engine, 100);
    client.engine.gate.add_permits(100);
    for _ in 0..100 {
        let answer = client.next().unwrap();
        assert_eq!(text(&answer["result"]), format!("wait {}", answer["id"]));
    }
    client.ends();
}

#[test]
fn orders_beyond_what_can_be_under_way_are_refused_and_the_others_go_on() {
    let mut client = Client::of("2025-11-25");
    for id in 1..=260 {
        client.order(id, json!({ "message": format!("wait {id}") }));
    }
    for _ in 0..4 {
        let answer = client.next().unwrap();
        assert!(answer["id"].as_u64().unwrap() > 256, "{answer}");
        let said = text(&answer["result"]);
        assert!(
            said.starts_with("Error: 256 orders are under way"),
            "{said}"
        );
    }
    client.engine.gate.add_permits(256);
    for _ in 0..256 {
        assert_eq!(client.next().unwrap()["result"]["isError"], false);
    }
    // There is room again.
    assert_eq!(text(&client.ordered(300, json!({ "message": "on" }))), "on");
    client.ends();
}

#[test]
fn a_cancelled_order_stops_the_agent_and_is_not_answered() {
    let mut client = Client::of("2025-11-25");
    client.order(1, json!({ "message": "hang", "sessionKey": "a" }));
    client.order(2, json!({ "message": "next", "sessionKey": "a" }));
    wait_for(&client.engine, 1);
    client.cancel(1);
    let answer = client.next().unwrap();
    assert_eq!(answer["id"], 2, "{answer}");
    wait_for(&client.engine, 0);
    client.cancel(7);
    assert!(client.ends().is_empty());
}

#[test]
fn an_order_that_waits_for_another_can_be_cancelled() {
    let mut client = Client::of("2025-11-25");
    client.order(1, json!({ "message": "wait 1", "sessionKey": "a" }));
    client.order(2, json!({ "message": "never", "sessionKey": "a" }));
    wait_for(&client.engine, 1);
    client.cancel(2);
    // Everything before it was heard when it is answered.
    client.ask(3, "ping", json!({}));
    client.engine.gate.add_permits(1);
    assert_eq!(client.next().unwrap()["id"], 1);
    let engine = client.engine.clone();
    assert!(client.ends().is_empty());
    assert_eq!(engine.asked().len(), 1);
}

#[test]
fn the_end_of_the_input_stops_orders_after_a_moment_and_they_say_so() {
    let mut client = Client::of("2025-11-25");
    client.order(1, json!({ "message": "hang" }));
    client.order(2, json!({ "message": "quick" }));
    let begun = Instant::now();
    let mut rest = client.ends();
    assert!(
        begun.elapsed() < Duration::from_secs(4),
        "{:?}",
        begun.elapsed()
    );
    rest.sort_by_key(|answer| answer["id"].as_u64());
    let [hung, quick] = &rest[..] else {
        panic!("{rest:?}");
    };
    assert_eq!(hung["result"]["isError"], true);
    let said = hung["result"].to_string();
    assert!(
        said.contains("Error: the client closed the connection"),
        "{said}"
    );
    assert!(said.contains("so far"), "{said}");
    assert_eq!(text(&quick["result"]), "quick");
}

#[test]
fn a_client_that_dies_takes_its_orders_along() {
    let mut client = Client::of("2025-11-25");
    client.order(1, json!({ "message": "hang" }));
    wait_for(&client.engine, 1);
    let engine = client.dies();
    assert_eq!(engine.running.load(Ordering::SeqCst), 0);
}

#[test]
fn failures_are_results_that_say_so_first() {
    let mut client = Client::of("2025-11-25");
    let failed = client.ordered(1, json!({ "message": "fail" }));
    assert_eq!(failed["isError"], true);
    let first = failed["content"][0]["text"].as_str().unwrap();
    assert!(
        first.starts_with("Error: the model is gone\nfind it"),
        "{first}"
    );
    assert!(failed.to_string().contains("half a sent"), "{failed}");
    let refused = client.ordered(2, json!({ "message": 5 }));
    assert_eq!(refused["isError"], true);
    assert_eq!(
        text(&refused),
        "Error: `message` must be a string, and is a number"
    );
    client.ends();
}

#[test]
fn a_panic_is_the_end_of_one_order_only() {
    let mut client = Client::of("2025-11-25");
    let failed = client.ordered(1, json!({ "message": "panic" }));
    assert_eq!(failed["isError"], true);
    assert!(
        text(&failed).starts_with("Error: OpenClaw failed"),
        "{failed}"
    );
    assert_eq!(text(&client.ordered(2, json!({ "message": "on" }))), "on");
    client.ends();
}

#[test]
fn progress_is_told_in_its_order_to_whoever_wants_it() {
    let mut client = Client::of("2025-11-25");
    let params = json!({
        "name": "order_openclaw",
        "arguments": { "message": "tools" },
        "_meta": { "progressToken": "p1" },
    });
    client.request(1, "tools/call", params);
    let mut told = Vec::new();
    let answer = loop {
        let line = client.next().unwrap();
        if line["id"] == 1 {
            break line;
        }
        assert_eq!(line["method"], "notifications/progress");
        assert_eq!(line["params"]["progressToken"], "p1");
        told.push(line["params"].clone());
    };
    let messages: Vec<&str> = told
        .iter()
        .map(|it| it["message"].as_str().unwrap())
        .collect();
    assert_eq!(
        messages,
        [
            "calls mcp_clock_now",
            "mcp_clock_now: half way",
            "mcp_clock_now finished after 7 ms"
        ]
    );
    let numbers: Vec<f64> = told
        .iter()
        .map(|it| it["progress"].as_f64().unwrap())
        .collect();
    assert!(
        numbers.is_sorted_by(|one, other| one < other),
        "{numbers:?}"
    );
    assert_eq!(text(&answer["result"]), "It is noon.");
    client.ends();
}

#[test]
fn text_is_told_as_it_grows() {
    let mut client = Client::of("2025-11-25");
    let params = json!({
        "name": "order_openclaw",
        "arguments": { "message": "hang" },
        "_meta": { "progressToken": 7 },
    });
    client.request(1, "tools/call", params);
    let told = client.next().unwrap();
    assert_eq!(told["params"]["progressToken"], 7);
    assert_eq!(told["params"]["message"], "so far");
    client.cancel(1);
    assert!(client.ends().is_empty());
}

/// Far more requests than a pipe holds, and answers to them.
const COUNT: u64 = 3000;

fn write_requests(mut input: impl Write + Send + 'static) -> Receiver<u64> {
    let (told, written) = channel();
    std::thread::spawn(move || {
        for id in 1..=COUNT {
            let request = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
            // The other end may be gone.
            if writeln!(input, "{request}").is_err() {
                return;
            }
            told.send(id).unwrap();
        }
    });
    written
}

/// How many were written when no more are.
fn stuck(written: &Receiver<u64>) -> u64 {
    let mut last = 0;
    while let Ok(id) = written.recv_timeout(Duration::from_millis(500)) {
        last = id;
    }
    last
}

#[test]
fn a_client_that_does_not_read_is_not_heard_until_it_does() {
    let mut client = Client::of("2025-11-25");
    let written = write_requests(client.another_input());
    let taken = stuck(&written);
    assert!(taken < COUNT, "everything was taken in");
    let mut ids: Vec<u64> = (0..COUNT)
        .map(|_| client.next().unwrap()["id"].as_u64().unwrap())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len() as u64, COUNT);
    client.ends();
}

#[test]
fn a_client_that_does_not_read_and_hangs_up_is_left() {
    let mut client = Client::of("2025-11-25");
    client.order(COUNT + 1, json!({ "message": "hang" }));
    // As many as are taken in before the answers to them fill the pipe.
    for id in 1..=100 {
        client.request(id, "tools/list", json!({}));
    }
    client.hang_up();
    let begun = Instant::now();
    let engine = client.left_without_a_word();
    assert!(
        begun.elapsed() < Duration::from_secs(15),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(engine.running.load(Ordering::SeqCst), 0);
}

#[test]
fn what_is_said_last_is_answered_too() {
    for _ in 0..50 {
        let mut client = Client::silent();
        client.write(b"nonsense");
        let rest = client.ends();
        assert_eq!(rest.len(), 1, "{rest:?}");
        assert_eq!(rest[0]["error"]["code"], -32700);
    }
}
