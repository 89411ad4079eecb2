//! What happened, counted and told.

use std::sync::Mutex;
use std::time::Instant;

use openclaw_engine::{
    Engine, EngineEvent, OneServer, ServerStatistics, ShownState, StatisticsReport, Watcher,
};
use serde_json::json;

use crate::house::{House, SOON, entry, fake, servers};

#[derive(Default)]
struct Noted(Mutex<Vec<EngineEvent>>);

impl Watcher for Noted {
    fn hear(&self, event: EngineEvent) {
        self.0.lock().unwrap().push(event);
    }
}

impl Noted {
    /// Waits until something was told.
    async fn until(&self, is_so: impl Fn(&EngineEvent) -> bool) {
        self.until_all(|events| events.iter().any(&is_so)).await;
    }

    async fn until_all(&self, are_so: impl Fn(&[EngineEvent]) -> bool) {
        let deadline = Instant::now() + SOON;
        while !are_so(&self.0.lock().unwrap()) {
            assert!(Instant::now() < deadline, "{:?}", self.0);
            tokio::task::yield_now().await;
        }
    }

    /// What was told of the states of a server.
    fn states(&self, name: &str) -> Vec<ShownState> {
        let events = self.0.lock().unwrap();
        let states = events.iter().filter_map(|event| match event {
            EngineEvent::Server { server, state, .. } if server == name => Some(*state),
            _ => None,
        });
        states.collect()
    }
}

async fn statistics(house: &House) -> StatisticsReport {
    house.engine.statistics().await.unwrap()
}

fn of(report: &StatisticsReport, name: &str) -> ServerStatistics {
    let mut servers = report.servers.iter();
    servers.find(|it| it.server == name).unwrap().clone()
}

#[tokio::test]
async fn calls_are_counted_by_server_and_by_how_they_ended() {
    let mine = fake("");
    let mut config = servers(&json!({
        "mine": entry(&mine),
        "off": { "command": "never-started", "enabled": false },
    }));
    config["tools"] = json!({ "deny": ["mine/big"] });
    let house = House::new(&config);
    let report = statistics(&house).await;
    assert_eq!(
        of(&report, "mine").state,
        ShownState::Stopped,
        "nothing is started"
    );
    house.echo("mine").await.unwrap();
    house.echo("mine").await.unwrap();
    house.call("mine/fail", "x", "y").await.unwrap();
    house.call("mine/big", "bytes", "1").await.unwrap_err();
    house.call("mine/sleep", "ms", "often").await.unwrap_err();
    house.call("mine/nothing", "x", "y").await.unwrap_err();
    let report = statistics(&house).await;
    let mine_did = of(&report, "mine");
    assert_eq!(mine_did.state, ShownState::Ready);
    let calls = mine_did.calls;
    assert_eq!(
        (calls.ok, calls.tool_error, calls.denied),
        (2, 1, 1),
        "{calls:?}"
    );
    assert_eq!(
        mine_did.latency.iter().sum::<u64>(),
        3,
        "those that reached it"
    );
    assert!(mine_did.latency_sum_ms > 0.0);
    assert_eq!(of(&report, "off").state, ShownState::Disabled);
    let names: Vec<_> = report.servers.iter().map(|it| it.server.as_str()).collect();
    assert_eq!(names, ["mine", "off"]);
    // A call that somebody gives up is cancelled, and it reached the server.
    tokio::select! {
        biased;
        done = house.call("mine/sleep", "ms", "60000") => panic!("{done:?}"),
        echoed = house.echo("mine") => drop(echoed.unwrap()),
    }
    let mine_did = of(&statistics(&house).await, "mine");
    assert_eq!(mine_did.calls.cancelled, 1);
    assert_eq!(mine_did.latency.iter().sum::<u64>(), 5);
    house.finish(&[&mine]).await;
}

#[tokio::test]
async fn restarts_are_counted_for_good() {
    let mine = fake("");
    let house = House::of_gateway(&servers(&json!({ "mine": entry(&mine) })));
    house
        .until("mine", |it| it.state == ShownState::Ready)
        .await;
    // The server ends in the middle of the call.
    house.call("mine/crash", "x", "y").await.unwrap_err();
    house
        .until("mine", |it| {
            it.state == ShownState::Ready && it.restarts == 1
        })
        .await;
    assert_eq!(of(&statistics(&house).await, "mine").restarts, 1);
    let one = OneServer {
        agent: None,
        server: "mine".to_owned(),
    };
    let details = house.engine.connect(one).await.unwrap();
    assert_eq!(
        details.report.restarts, 0,
        "whoever asks by name begins a new count"
    );
    let report = statistics(&house).await;
    assert_eq!(of(&report, "mine").restarts, 1);
    assert_eq!(of(&report, "mine").calls.unknown, 1);
    house.finish(&[&mine]).await;
}

#[tokio::test]
async fn turns_and_reloads_are_counted_with_those_that_failed() {
    let house = House::new(&servers(&json!({})));
    house.reply("hello").await.unwrap();
    house.reply("/mcp list").await.unwrap();
    house.engine.reload().await.unwrap();
    house.write("{ mcp: ");
    house.engine.reload().await.unwrap_err();
    let report = statistics(&house).await;
    assert_eq!(
        (report.turns, report.failed_turns),
        (1, 0),
        "a command is no turn"
    );
    assert_eq!((report.reloads, report.failed_reloads), (1, 1));
    let after = json!({
        "agents": { "defaults": { "model": "mine/m" } },
        "models": { "providers": { "mine": {
            "baseUrl": "http://127.0.0.1:1/v1", "api": "openai-completions",
            "models": [{ "id": "m" }],
        } } },
    });
    house.write(&after.to_string());
    house.engine.reload().await.unwrap();
    house.reply("hello").await.unwrap_err();
    let report = statistics(&house).await;
    assert_eq!((report.turns, report.failed_turns), (2, 1));
    house.finish(&[]).await;
}

#[tokio::test]
async fn whoever_watches_hears_of_servers_calls_and_reloads_as_they_happen() {
    let (mine, other) = (fake(""), fake(""));
    let house = House::of_gateway(&servers(&json!({ "mine": entry(&mine) })));
    let noted = Noted::default();
    let story = async {
        house.echo("mine").await.unwrap();
        noted
            .until(|it| matches!(it, EngineEvent::Call { .. }))
            .await;
        // What it offers changes.
        let is_of_server = |it: &&EngineEvent| matches!(it, EngineEvent::Server { .. });
        let told = noted.states("mine").len();
        house.call("mine/change_tools", "x", "y").await.unwrap();
        noted
            .until_all(|events| events.iter().filter(is_of_server).count() > told)
            .await;
        house.write(&servers(&json!({ "mine": entry(&other) })).to_string());
        house.engine.reload().await.unwrap();
        noted
            .until(
                |it| matches!(it, EngineEvent::Reloaded { report } if report.changed == ["mine"]),
            )
            .await;
        house
            .until("mine", |it| it.state == ShownState::Ready)
            .await;
        crate::house::assert_gone(&[&mine]).await;
        house.write("");
        house.engine.reload().await.unwrap_err();
        noted
            .until(
                |it| matches!(it, EngineEvent::NotReloaded { error } if error.contains("is empty")),
            )
            .await;
        let one = OneServer {
            agent: None,
            server: "mine".to_owned(),
        };
        house.engine.disconnect(one).await.unwrap();
        noted.until(|it| matches!(it, EngineEvent::Server { error: Some(error), .. } if error == "it was disconnected")).await;
    };
    tokio::select! {
        ended = house.engine.watch(&noted) => panic!("{ended:?}"),
        () = story => {}
    }
    let states = noted.states("mine");
    // The old one goes without a word: the server of this name is ready.
    assert_eq!(states.last(), Some(&ShownState::Stopped));
    let ready = states
        .iter()
        .rposition(|it| *it == ShownState::Ready)
        .unwrap();
    assert_eq!(ready, states.len() - 2, "{states:?}");
    let events = noted.0.lock().unwrap().clone();
    let call = events.iter().find_map(|event| match event {
        EngineEvent::Call {
            agent,
            server,
            tool,
            outcome,
            ..
        } => Some((&**agent, &**server, &**tool, &**outcome)),
        _ => None,
    });
    assert_eq!(call, Some(("main", "mine", "echo", "ok")));
    house.finish(&[&mine, &other]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_as_bad_as_it_is_for_any_agent_that_may_use_it() {
    let (mine, denied, stopped) = (fake(""), fake(""), fake(""));
    let mut config = servers(&json!({
        "mine": entry(&mine), "denied": entry(&denied), "stopped": entry(&mine),
    }));
    // Another definition of the same name, and a server that one of them may not use.
    config["agents"]["list"] = json!([
        { "id": "main" },
        {
            "id": "other",
            "mcp": { "servers": {
                "mine": { "command": "/nowhere/at/all" },
                "stopped": entry(&stopped),
            } },
            "tools": { "deny": ["denied/*"] },
        },
    ]);
    let house = House::of_gateway(&config);
    for name in ["mine", "denied", "stopped"] {
        house.until(name, |it| it.state == ShownState::Ready).await;
    }
    let query = OneServer {
        agent: Some("other".to_owned()),
        server: "stopped".to_owned(),
    };
    let rests = house.engine.disconnect(query).await.unwrap();
    assert_eq!(rests.report.state, ShownState::Stopped);
    let deadline = Instant::now() + SOON;
    while of(&statistics(&house).await, "mine").state != ShownState::Failed {
        assert!(Instant::now() < deadline, "{:?}", statistics(&house).await);
        tokio::task::yield_now().await;
    }
    let denied_is = of(&statistics(&house).await, "denied").state;
    assert_eq!(denied_is, ShownState::Ready);
    // What one of them does not use at the moment takes nothing from another.
    let used = of(&statistics(&house).await, "stopped").state;
    assert_eq!(used, ShownState::Ready);
    house.finish(&[&mine, &denied, &stopped]).await;
}

#[tokio::test]
async fn a_turn_that_somebody_gives_up_is_neither_good_nor_failed() {
    let mine = fake("--only-tools sleep");
    let house = House::new(&servers(&json!({ "mine": entry(&mine) })));
    let is_called = async {
        let deadline = Instant::now() + SOON;
        while !mine.journal().methods().iter().any(|it| it == "tools/call") {
            assert!(Instant::now() < deadline);
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        done = house.reply("sleep ms=60000") => panic!("{done:?}"),
        () = is_called => {}
    }
    let report = statistics(&house).await;
    assert_eq!(
        (report.turns, report.failed_turns, report.cancelled_turns),
        (1, 0, 1)
    );
    house.finish(&[&mine]).await;
}
