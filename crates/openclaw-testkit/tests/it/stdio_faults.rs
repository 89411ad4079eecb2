//! stdio, first era, one fault at a time.

use std::time::{Duration, Instant};

use openclaw_testkit::leaks::{descendants, processes_with_argument, wait_until};
use serde_json::{Value, json};

use crate::conversation::{Conversation, PATIENCE, introduction, text_of};

fn echo() -> Value {
    json!({"name": "echo", "arguments": {"message": "hello"}})
}

fn end(pid: u32, signal: &str) {
    let mut kill = std::process::Command::new("kill");
    assert!(
        kill.args([signal, &pid.to_string()])
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn it_can_be_mute() {
    let mut server = Conversation::start("--mute");
    server.send_line("no JSON");
    server.begin("initialize", &introduction("2025-11-25"));
    assert!(server.is_silent());

    let mut server = Conversation::start("--mute-discover");
    server.begin("server/discover", &json!({}));
    assert!(server.is_silent());
    assert!(server.initialize().get("result").is_some());

    let mut server = Conversation::initialized("--mute-calls");
    server.begin("tools/call", &echo());
    assert!(server.is_silent());
    assert!(server.ask("tools/list", &json!({})).get("result").is_some());
}

#[test]
fn initialize_can_take_its_time() {
    let begun = Instant::now();
    Conversation::initialized("--initialize-delay 200");
    assert!(begun.elapsed() >= Duration::from_millis(200));
}

#[test]
fn it_can_exit_at_bad_moments() {
    let mut server = Conversation::start("--exit-on-unknown");
    server.begin("server/discover", &json!({}));
    assert_eq!(server.wait().code(), Some(1));
    assert_eq!(server.line(), None);

    let mut server = Conversation::initialized("--exit-on-unknown");
    assert_eq!(
        text_of(&server.call("echo", &json!({"message": "fine"}))),
        "fine"
    );

    let mut server = Conversation::start("--exit-after-initialize");
    assert!(server.initialize().get("result").is_some());
    assert_eq!(server.line(), None);
    assert_eq!(server.wait().code(), Some(1));

    let mut server = Conversation::initialized("--exit-on-call");
    server.begin("tools/call", &echo());
    assert_eq!(server.line(), None);
    assert_eq!(server.wait().code(), Some(1));

    let mut server = Conversation::initialized("--exit-after 3");
    server.begin("tools/list", &json!({}));
    assert_eq!(server.wait().code(), Some(1));

    let mut server = Conversation::initialized("");
    server.begin("tools/call", &json!({"name": "crash"}));
    assert_eq!(server.wait().code(), Some(3));
}

#[test]
fn it_can_exit_in_the_middle_of_a_line() {
    let mut server = Conversation::initialized("--exit-mid-line");
    server.begin("tools/call", &echo());
    let line = server.line().unwrap();
    assert!(line.starts_with(b"{\"jsonrpc\""));
    assert!(!line.ends_with(b"\n"));
    assert_eq!(server.line(), None);
    assert_eq!(server.wait().code(), Some(1));
}

#[test]
fn it_can_stop_reading() {
    let mut server = Conversation::initialized("--stop-reading-after 2");
    server
        .journal()
        .wait_for_event(PATIENCE, "stopped reading")
        .unwrap();
    server.begin("tools/call", &echo());
    assert!(server.is_silent());
    server.close_input();
    std::thread::sleep(Duration::from_millis(100));
    assert!(server.is_running());
}

#[test]
fn it_can_ignore_the_end_of_its_input_and_a_signal() {
    let mut server = Conversation::initialized("--ignore-eof --ignore-term");
    server.close_input();
    server
        .journal()
        .wait_for_event(PATIENCE, "stdin closed")
        .unwrap();
    end(server.child.id(), "-TERM");
    server
        .journal()
        .wait_for_event(PATIENCE, "signal TERM received")
        .unwrap();
    assert!(server.is_running());

    let mut server = Conversation::initialized("--ignore-eof");
    server.close_input();
    server
        .journal()
        .wait_for_event(PATIENCE, "stdin closed")
        .unwrap();
    end(server.child.id(), "-TERM");
    assert_eq!(server.wait().code(), Some(143));
}

#[test]
fn it_can_have_grandchildren_that_ignore_signals() {
    for flags in ["--grandchild", "--grandchild-setsid", "--grandchild-silent"] {
        let mut server = Conversation::initialized(flags);
        let entry = server
            .journal()
            .wait_for_event(PATIENCE, "started a grandchild")
            .unwrap();
        let pid = u32::try_from(entry["pid"].as_u64().unwrap()).unwrap();
        assert_eq!(descendants(server.child.id()), [pid], "{flags}");
        let marker = server.marker();
        assert!(processes_with_argument(&marker).contains(&pid));
        let group = |pid: u32| {
            let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            let rest = text.rsplit_once(')').unwrap().1.to_owned();
            rest.split_whitespace().nth(2).unwrap().to_owned()
        };
        let leads = || group(pid) == pid.to_string();
        if flags == "--grandchild-setsid" {
            assert!(wait_until(PATIENCE, leads));
        }
        // Only once its handler is there does it ignore the signal.
        let handles = || {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
            let caught = status
                .lines()
                .find(|line| line.starts_with("SigCgt"))
                .unwrap();
            let mask = u64::from_str_radix(caught.split_whitespace().nth(1).unwrap(), 16);
            mask.unwrap() & (1 << 14) != 0
        };
        assert!(wait_until(PATIENCE, handles));
        end(pid, "-TERM");
        server.close_input();
        assert!(server.wait().success());
        assert_eq!(processes_with_argument(&marker), [pid]);
        end(pid, "-KILL");
    }
}

#[test]
fn standard_error_can_be_flooded() {
    use std::io::Read;
    let mut server = Conversation::with(
        crate::conversation::fake("--flood-stderr 300000"),
        |command| {
            command.stderr(std::process::Stdio::piped());
        },
    );
    let mut stderr = server.child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stderr.read_to_end(&mut bytes).unwrap();
        bytes.len()
    });
    server.initialize();
    server.close_input();
    server.wait();
    assert_eq!(reader.join().unwrap(), 300_000);
}

#[test]
fn standard_output_can_hold_what_is_no_message() {
    let mut server = Conversation::start("--flood-stdout 50 --noise --bom --crlf");
    server.begin("initialize", &introduction("2025-11-25"));
    let first = server.line().unwrap();
    assert!(first.starts_with(b"\xef\xbb\xbfnoise number 0"));
    let mut noise = 1;
    let reply = loop {
        let line = server.line().unwrap();
        assert!(line.ends_with(b"\r\n"));
        match serde_json::from_slice::<Value>(&line) {
            Ok(message) => break message,
            Err(_) => noise += 1,
        }
    };
    assert_eq!(noise, 56);
    assert!(reply.get("result").is_some());
    server.begin("ping", &json!({}));
    assert_eq!(server.line().unwrap(), b"\r\n");
}

#[test]
fn a_byte_order_mark_comes_once_and_first() {
    let mut server = Conversation::start("--bom");
    server.begin("ping", &json!({}));
    assert!(server.line().unwrap().starts_with(b"\xef\xbb\xbf{"));
    server.begin("ping", &json!({}));
    assert!(server.line().unwrap().starts_with(b"{"));
}

#[test]
fn texts_can_be_no_utf8() {
    let mut server = Conversation::initialized("--invalid-utf8");
    server.begin("tools/call", &echo());
    let line = server.line().unwrap();
    assert!(std::str::from_utf8(&line).is_err());
    assert!(String::from_utf8_lossy(&line).contains("(hello"));
}

#[test]
fn ids_can_be_wrong() {
    for (flag, expected) in [
        ("--string-ids", Some(json!("1"))),
        ("--null-ids", Some(Value::Null)),
        ("--no-ids", None),
    ] {
        let mut server = Conversation::start(flag);
        server.begin("ping", &json!({}));
        assert_eq!(server.message(|_| true).get("id"), expected.as_ref());
    }
}

#[test]
fn there_can_be_more_than_the_reply() {
    let mut server = Conversation::start("--duplicate-replies");
    server.begin("ping", &json!({}));
    assert_eq!(server.line(), server.line());

    let mut server = Conversation::start("--replies-to-nobody 7");
    server.begin("ping", &json!({}));
    for _ in 0..7 {
        assert_ne!(server.message(|_| true)["id"], 1);
    }
    assert_eq!(server.message(|_| true)["id"], 1);
    server.begin("ping", &json!({}));
    assert_eq!(server.message(|_| true)["id"], 2);

    let mut server = Conversation::start("--not-rpc");
    server.begin("ping", &json!({}));
    let mut junk = 0;
    while server.message(|_| true) != json!({"jsonrpc": "2.0", "id": 1, "result": {}}) {
        junk += 1;
    }
    assert_eq!(junk, 15);

    let mut server = Conversation::start("--batch");
    server.begin("ping", &json!({}));
    let batch = server.message(|_| true);
    assert_eq!(batch[0]["method"], "notifications/message");
    assert_eq!(batch[1]["id"], 1);
}

#[test]
fn results_can_be_nested_very_deeply() {
    let mut server = Conversation::initialized("--deep-nesting 100000");
    server.begin("tools/call", &echo());
    for _ in 0..2 {
        let line = server.line().unwrap();
        assert_eq!(
            String::from_utf8(line).unwrap().matches('[').count() / 100_000,
            1
        );
    }
}

#[test]
fn a_reply_can_be_huge() {
    let mut server = Conversation::initialized("--huge-line 3000000");
    assert!(server.ask("tools/list", &json!({})).to_string().len() < 100_000);
    server.begin("tools/call", &echo());
    let line = server.line().unwrap();
    assert_eq!(line.len(), 3_000_001);
    let reply: Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(text_of(&reply), "hello");
}

#[test]
fn the_request_that_is_spoilt_can_be_chosen() {
    let mut server = Conversation::start("--huge-line 50000 --at initialize");
    server.begin("initialize", &introduction("2025-11-25"));
    assert_eq!(server.line().unwrap().len(), 50_001);
}

#[test]
fn a_line_can_be_endless() {
    use std::io::Read;
    let fake = crate::conversation::fake("--endless-line --at initialize");
    let mut child = std::process::Command::new(fake.program())
        .args(fake.arguments())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": introduction("2025-11-25"),
    });
    std::io::Write::write_all(&mut stdin, format!("{request}\n").as_bytes()).unwrap();
    let mut bytes = vec![0; 1 << 20];
    child.stdout.take().unwrap().read_exact(&mut bytes).unwrap();
    assert!(bytes.iter().all(|byte| *byte == b'x'));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn pages_can_go_on_for_ever() {
    let mut server = Conversation::initialized("--repeat-cursor");
    for params in [json!({}), json!({"cursor": "again"})] {
        let page = server.ask("tools/list", &params);
        assert_eq!(page["result"]["nextCursor"], "again");
    }
    let mut server = Conversation::initialized("--endless-pages");
    let mut params = json!({});
    for number in 0..5 {
        let page = server.ask("tools/list", &params)["result"].clone();
        if number > 0 {
            let name = format!("endless_{number}");
            assert_eq!(page["tools"][0]["name"], name);
        }
        assert_ne!(page["nextCursor"], params["cursor"]);
        params = json!({"cursor": page["nextCursor"]});
    }
}

#[test]
fn bad_items_stand_among_good_ones() {
    let mut server = Conversation::initialized("--bad-tool");
    let reply = server.ask("tools/list", &json!({}));
    let tools = reply["result"]["tools"].as_array().unwrap();
    let good = |tool: &&Value| tool["name"].is_string() && tool["inputSchema"].is_object();
    assert!(!good(&&tools[0]));
    let good = tools.iter().filter(good).count();
    assert!(good > 20);
    assert_eq!(tools.len() - good, 8);
    for (method, key) in [("resources/list", "resources"), ("prompts/list", "prompts")] {
        let reply = server.ask(method, &json!({}));
        let items = reply["result"][key].as_array().unwrap();
        assert!(items.iter().any(|item| !item["name"].is_string()));
    }
}

#[test]
fn storms_come_after_the_first_list() {
    let mut server = Conversation::initialized("--list-changed-storm 200");
    assert!(server.is_silent());
    server.begin("tools/list", &json!({}));
    for _ in 0..20 {
        server.message(|message| message["method"] == "notifications/tools/list_changed");
    }
    let mut server = Conversation::initialized("--request-storm 30");
    server.begin("tools/list", &json!({}));
    for index in 0..30 {
        let expected = format!("storm/unknown_{index}");
        server.message(|message| message["method"] == expected);
    }
}

#[test]
fn answers_can_be_nonsense() {
    let mut server = Conversation::start("--wrong-version");
    assert_eq!(
        server.initialize()["result"]["protocolVersion"],
        "1999-01-01"
    );
    let mut server = Conversation::start("--empty-result");
    assert_eq!(server.initialize()["result"], json!({}));
    assert_eq!(
        server.ask("server/discover", &json!({}))["result"],
        json!({})
    );
}

#[test]
fn it_does_not_live_longer_than_it_may() {
    let mut server = Conversation::initialized("--lifetime 1 --ignore-eof");
    assert_eq!(server.wait().code(), Some(4));
}
