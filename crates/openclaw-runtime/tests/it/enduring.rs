//! Reloads, again and again: no call fails, and nothing is left of them.

use std::time::{Duration, Instant};

use openclaw_engine::{Engine, ServersQuery, ShownState};
use openclaw_testkit::leaks::{eventually, open_descriptors};
use openclaw_testkit::memory::resident;
use serde_json::{Value, json};

use crate::house::{House, SOON, entry, fake, servers};

/// How often it is done, at full scale and else.
fn times(full: usize, else_: usize) -> usize {
    let is_full = std::env::var("OPENCLAW_TEST_SCALE").is_ok_and(|scale| scale == "full");
    if is_full { full } else { else_ }
}

/// A definition that is another one with every number.
fn numbered(mut entry: Value, number: usize) -> Value {
    entry["env"] = json!({ "NUMBER": number.to_string() });
    entry
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_fails_while_the_configuration_is_read_anew_again_and_again() {
    let (kept, changed) = (fake("--only-tools echo"), fake("--only-tools echo"));
    let config = |number| {
        servers(&json!({ "kept": entry(&kept), "changed": numbered(entry(&changed), number) }))
    };
    let house = House::of_gateway(&config(0));
    house
        .until("kept", |it| it.state == ShownState::Ready)
        .await;
    let pid = house.seen("kept").await.pid;
    let end = Instant::now() + Duration::from_secs(times(20, 3) as u64);
    let callers = (0..8).map(|number| {
        let house = &house;
        async move {
            let mut calls = 0;
            while Instant::now() < end {
                let server = if number % 2 == 0 { "kept" } else { "changed" };
                let report = house.echo(server).await.unwrap();
                assert!(!report.is_error, "{report:?}");
                calls += 1;
            }
            calls
        }
    });
    let reloads = async {
        let mut number = 0;
        while Instant::now() < end {
            number += 1;
            house.write(&config(number).to_string());
            house.engine.reload().await.unwrap();
            // Sometimes the next one comes before the server of this one is ready.
            if number % 4 == 0 {
                house.echo("changed").await.unwrap();
            }
        }
        number
    };
    let (calls, reloads) = tokio::join!(futures_util::future::join_all(callers), reloads);
    assert!(
        calls.iter().all(|calls| *calls > 0) && reloads > 1,
        "{calls:?} {reloads}"
    );
    assert_eq!(house.seen("kept").await.pid, pid);
    house.finish(&[&kept, &changed]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_of_a_thousand_reloads() {
    // So many until everything has its size.
    const WARM: usize = 200;
    const RELOADS: usize = 1_000;
    let (kept, changed) = (fake("--only-tools echo"), fake("--only-tools echo"));
    let config = |number: usize| {
        let mut all = json!({
            "kept": entry(&kept),
            "changed": numbered(entry(&changed), number),
            // A login, a secret, a definition that is wrong: none of them may pile up.
            "remote": {
                "url": "http://127.0.0.1:1/mcp", "lazy": true, "headers": { "X-Number": number.to_string() },
            },
            "secret": {
                "url": "http://127.0.0.1:1/mcp", "lazy": true, "apiKey": "the-same-key-of-many-bytes",
            },
            "broken": { "note": number },
        });
        if number.is_multiple_of(2) {
            all["sometimes"] = json!({ "command": "never-started", "lazy": true });
        }
        servers(&all)
    };
    let house = House::of_gateway(&config(0));
    let reload = async |number: usize| {
        house.write(&config(number).to_string());
        house.engine.reload().await.unwrap();
        // Every tenth time somebody uses what is new.
        if number.is_multiple_of(10) {
            house.echo("changed").await.unwrap();
            house.echo("kept").await.unwrap();
        }
    };
    let settled = async || {
        house.echo("kept").await.unwrap();
        house.echo("changed").await.unwrap();
        let is_one = || {
            let processes = openclaw_testkit::leaks::processes_with_argument(changed.marker());
            processes.len() == 1
        };
        assert!(eventually(SOON, is_one).await, "servers are left");
    };
    for number in 1..=WARM {
        reload(number).await;
    }
    settled().await;
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let (descriptors_before, tasks_before) = (open_descriptors().len(), tasks());
    let before = resident(std::process::id()).unwrap();
    for number in WARM + 1..=WARM + RELOADS {
        reload(number).await;
    }
    settled().await;
    let descriptors = || open_descriptors().len() <= descriptors_before;
    assert!(
        eventually(SOON, descriptors).await,
        "{descriptors_before} descriptors, now {:?}",
        open_descriptors()
    );
    assert!(
        eventually(SOON, || tasks() <= tasks_before).await,
        "{tasks_before} tasks, now {}",
        tasks()
    );
    let after = resident(std::process::id()).unwrap();
    let grown = after.saturating_sub(before) / 1024;
    eprintln!(
        "{RELOADS} reloads: {} KiB, then {grown} KiB more",
        before / 1024
    );
    assert!(grown < 2_048, "it grew by {grown} KiB");
    assert_eq!(
        house.engine.statistics().await.unwrap().servers.len(),
        5 + usize::from((WARM + RELOADS).is_multiple_of(2))
    );
    house.finish(&[&kept, &changed]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_connected_costs_little_memory() {
    const MORE: usize = 50;
    let fakes: Vec<_> = (0..=MORE).map(|_| fake("")).collect();
    let some = |count: usize| {
        let mut all = json!({});
        for (number, fake) in fakes.iter().take(count).enumerate() {
            all[format!("server{number}")] = entry(fake);
        }
        servers(&all)
    };
    let house = House::of_gateway(&some(1));
    house
        .until("server0", |it| it.state == ShownState::Ready)
        .await;
    let before = resident(std::process::id()).unwrap();
    house.write(&some(MORE + 1).to_string());
    house.engine.reload().await.unwrap();
    let wait = ServersQuery {
        agent: None,
        wait: true,
        ..ServersQuery::default()
    };
    let report = house.engine.servers(wait).await.unwrap();
    assert!(report.servers.iter().all(|it| it.pid.is_some()));
    let after = resident(std::process::id()).unwrap();
    let each = after.saturating_sub(before) / 1024 / MORE as u64;
    eprintln!(
        "{} KiB with one server, {each} KiB for each more",
        before / 1024
    );
    assert!(each < 300, "{each} KiB for each");
    house.finish(&fakes.iter().collect::<Vec<_>>()).await;
}
