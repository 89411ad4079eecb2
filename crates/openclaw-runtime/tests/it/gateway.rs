//! A runtime as a gateway has it: servers start with it, and go over to what is written now.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use openclaw_engine::{Engine, OfServer, OneServer, ServersQuery, ShownState};
use openclaw_testkit::leaks::eventually;
use serde_json::{Value, json};

use crate::house::{House, SOON, assert_gone, entry, fake, servers};

fn one(server: &str) -> OneServer {
    OneServer {
        agent: None,
        server: server.to_owned(),
    }
}

fn with(mut entry: Value, more: &[(&str, Value)]) -> Value {
    for (name, value) in more {
        entry[*name] = value.clone();
    }
    entry
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_servers_start_at_once_and_those_that_should_not_do_not() {
    let fakes: Vec<_> = (0..100).map(|_| fake("--only-tools echo")).collect();
    let (lazy, off) = (fake("--only-tools echo"), fake("--only-tools echo"));
    let mut all = json!({
        "lazy": with(entry(&lazy), &[("lazy", json!(true))]),
        "off": with(entry(&off), &[("enabled", json!(false))]),
    });
    for (number, fake) in fakes.iter().enumerate() {
        all[format!("server{number}")] = entry(fake);
    }
    let begun = Instant::now();
    let house = House::of_gateway(&servers(&all));
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "nothing is waited for"
    );
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let seen = house.engine.overview().await.unwrap().servers;
        let ready = seen.iter().filter(|it| it.state == ShownState::Ready);
        if ready.count() == fakes.len() {
            break;
        }
        assert!(Instant::now() < deadline, "{seen:?}");
        tokio::task::yield_now().await;
    }
    assert_eq!(house.seen("lazy").await.state, ShownState::Stopped);
    assert_eq!(house.seen("off").await.state, ShownState::Disabled);
    // The first use starts it.
    house.echo("lazy").await.unwrap();
    assert_eq!(house.seen("lazy").await.state, ShownState::Ready);
    let wait = ServersQuery {
        agent: None,
        wait: true,
        ..ServersQuery::default()
    };
    let report = house.engine.servers(wait).await.unwrap();
    assert_eq!(
        report.servers.iter().filter(|it| it.pid.is_some()).count(),
        101
    );
    let all: Vec<_> = fakes.iter().chain([&lazy, &off]).collect();
    house.finish(&all).await;
}

#[tokio::test]
async fn what_was_disconnected_stays_so_until_somebody_asks_for_it() {
    let mine = fake("--only-tools echo");
    let house = House::of_gateway(&servers(&json!({ "mine": entry(&mine) })));
    house
        .until("mine", |it| it.state == ShownState::Ready)
        .await;
    for comes_back in [true, false] {
        let stopped = house.engine.disconnect(one("mine")).await.unwrap();
        assert_eq!(stopped.report.state, ShownState::Stopped);
        // Neither a call nor a reload, nor whoever wants to see all of them, brings it back.
        house.echo("mine").await.unwrap_err();
        house.engine.reload().await.unwrap();
        let wait = ServersQuery {
            agent: None,
            wait: true,
            ..ServersQuery::default()
        };
        house.engine.servers(wait).await.unwrap();
        assert_eq!(house.seen("mine").await.state, ShownState::Stopped);
        assert_gone(&[&mine]).await;
        if comes_back {
            house.engine.connect(one("mine")).await.unwrap();
        } else {
            let all = OfServer {
                agent: None,
                server: None,
            };
            house.engine.refresh(all).await.unwrap();
        }
        assert_eq!(house.seen("mine").await.state, ShownState::Ready);
        house.echo("mine").await.unwrap();
    }
    house.finish(&[&mine]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_wait_for_a_changed_server_and_those_under_way_finish_on_the_old_one() {
    let old = fake("");
    let new = fake("--initialize-delay 3000");
    let house = House::of_gateway(&servers(&json!({ "mine": entry(&old) })));
    house
        .until("mine", |it| it.state == ShownState::Ready)
        .await;
    let before = house.seen("mine").await;
    let call = house.call("mine/sleep", "ms", "600");
    let reloaded = async {
        // The call is under way by then: it was made before this began.
        house.echo("mine").await.unwrap();
        house.write(&servers(&json!({ "mine": entry(&new) })).to_string());
        house.engine.reload().await.unwrap();
        house
            .until("mine", |it| it.state == ShownState::Connecting)
            .await;
        let after = house.seen("mine").await;
        assert_eq!(after.tools, before.tools, "they stay listed");
        // The new one is not ready: the call waits for it, and does not fail.
        let answered = house.echo("mine").await.unwrap();
        assert!(!answered.is_error);
        let after = house.seen("mine").await;
        assert_eq!(after.state, ShownState::Ready, "it was the old one");
        assert_ne!(after.pid, before.pid);
    };
    let (finished, ()) = tokio::join!(call, reloaded);
    assert!(
        !finished.unwrap().is_error,
        "it was finished on the old one"
    );
    assert_gone(&[&old]).await;
    let after = house.seen("mine").await;
    assert_eq!(after.state, ShownState::Ready);
    assert_ne!(after.pid, before.pid);
    house.finish(&[&old, &new]).await;
}

#[tokio::test]
async fn a_changed_server_does_not_keep_the_old_one_however_long_it_takes_to_start() {
    let (old, slow) = (fake("--only-tools echo"), fake("--initialize-delay 60000"));
    let house = House::of_gateway(&servers(&json!({ "mine": entry(&old) })));
    house
        .until("mine", |it| it.state == ShownState::Ready)
        .await;
    house.write(&servers(&json!({ "mine": entry(&slow) })).to_string());
    house.engine.reload().await.unwrap();
    assert_gone(&[&old]).await;
    house
        .until("mine", |it| it.state == ShownState::Connecting)
        .await;
    let missing = json!({ "mine": { "command": "/nowhere/at/all" } });
    house.write(&servers(&missing).to_string());
    house.engine.reload().await.unwrap();
    house
        .until("mine", |it| it.state == ShownState::Failed)
        .await;
    assert_gone(&[&slow]).await;
    house.write(&servers(&json!({ "mine": entry(&old) })).to_string());
    house.engine.reload().await.unwrap();
    house.echo("mine").await.unwrap();
    house.finish(&[&old, &slow]).await;
}

#[tokio::test]
async fn a_removed_server_finishes_its_calls_and_goes() {
    let mine = fake("");
    let house = House::of_gateway(&servers(&json!({ "mine": entry(&mine) })));
    house
        .until("mine", |it| it.state == ShownState::Ready)
        .await;
    let call = house.call("mine/sleep", "ms", "600");
    let removed = async {
        house.echo("mine").await.unwrap();
        house.write(&servers(&json!({})).to_string());
        house.engine.reload().await.unwrap();
        assert_eq!(house.names().await, Vec::<String>::new());
    };
    let (finished, ()) = tokio::join!(call, removed);
    assert!(!finished.unwrap().is_error);
    assert_gone(&[&mine]).await;
    house.finish(&[&mine]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_closed_beside_servers_that_do_not_stop() {
    let stubborn = fake("--ignore-term --ignore-eof");
    let house = House::of_gateway(&servers(&json!({ "mine": entry(&stubborn) })));
    house
        .until("mine", |it| it.state == ShownState::Ready)
        .await;
    house.reply("hello").await.unwrap();
    // The journal of the sessions has something in it for as long as they are open.
    let is_open = || walk(&house.path().join("state")).iter().any(is_journal);
    assert!(is_open());
    let mut close = house.engine.close();
    let begun = Instant::now();
    tokio::select! {
        () = &mut close => panic!("it ignores being asked"),
        is_closed = eventually(SOON, || !is_open()) => assert!(is_closed),
    }
    assert!(begun.elapsed() < Duration::from_secs(3));
    close.await;
    assert!(begun.elapsed() < Duration::from_secs(6));
    drop(house);
    assert_gone(&[&stubborn]).await;
}

/// The files below a directory.
fn walk(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walk(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// Whether a file is the journal of a database, and has something in it.
fn is_journal(path: &PathBuf) -> bool {
    let is_named_so = path.to_string_lossy().ends_with("-wal");
    is_named_so && std::fs::metadata(path).is_ok_and(|it| it.len() > 0)
}
