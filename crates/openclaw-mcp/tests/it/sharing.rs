//! Servers, shared by agents and changed while they run.

use std::time::{Duration, Instant};

use openclaw_mcp::{CallEnd, Standing, StartMode, Status};
use openclaw_testkit::leaks::eventually;
use serde_json::{Value, json};

use crate::house::{House, config, entry, fake, text};
use crate::lab::SOON;

fn ready(house: &House) -> usize {
    let views = house.servers.view(&house.main());
    let is_ready = |state: &openclaw_mcp::ServerState| state.status == Status::Ready;
    views
        .iter()
        .filter(|view| view.state.as_ref().is_some_and(is_ready))
        .count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_agents_with_the_same_servers_share_the_processes() {
    const SERVERS: usize = 5;
    let fakes: Vec<_> = (0..SERVERS).map(|_| fake("")).collect();
    let mut servers = json!({});
    for (number, fake) in fakes.iter().enumerate() {
        servers[format!("server{number}")] = entry(fake, json!({}));
    }
    // One more name for the first of them.
    servers["another"] = entry(&fakes[0], json!({}));
    let agents: Vec<Value> = (0..20)
        .map(|it| json!({"id": format!("agent{it}")}))
        .collect();
    let text = json!({ "mcp": { "servers": servers }, "agents": { "list": agents } });
    let house = House::new(StartMode::Eager, &text, &fakes.iter().collect::<Vec<_>>());
    assert!(eventually(SOON, || ready(&house) == SERVERS + 1).await);
    for number in 0..20 {
        let agent = house.agent(&format!("agent{number}"));
        house.servers.start(&agent, None).await;
        let outcome = house
            .call_as(&agent, "server3/echo", json!({"message": "x"}))
            .await;
        assert_eq!(outcome.end, CallEnd::Ok);
    }
    assert_eq!(house.processes(), SERVERS);
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reload_touches_only_what_changed_and_lets_calls_finish() {
    let (same, changed, gone) = (fake(""), fake(""), fake(""));
    let servers = |same_more: Value, changed_more: Value| {
        json!({
            "same": entry(&same, same_more),
            "changed": entry(&changed, changed_more),
        })
    };
    let mut before = servers(json!({}), json!({}));
    before["gone"] = entry(&gone, json!({}));
    let text_before = json!({ "mcp": { "servers": before } });
    let house = House::new(StartMode::Eager, &text_before, &[&same, &changed, &gone]);
    let agent = house.started().await;
    let pid = |name: &str| {
        let views = house.servers.view(&house.main());
        let view = views.into_iter().find(|it| it.server.name() == name)?;
        view.state?.connection?.diagnostics().pid
    };
    let (same_pid, changed_pid) = (pid("same"), pid("changed"));
    let call = house.call_as(&agent, "changed/sleep", json!({"ms": 1_000}));
    let reload = async {
        house.until_busy("changed").await;
        // Another variable is another launch; another prefix is not.
        let after = servers(json!({"toolPrefix": "s"}), json!({"env": {"A": "b"}}));
        let text = json!({ "mcp": { "servers": after } });
        house.servers.reload(config(house.path(), &text))
    };
    let (outcome, reconciled) = tokio::join!(call, reload);
    assert_eq!(outcome.end, CallEnd::Ok, "{}", text(&outcome));
    assert_eq!(
        (reconciled.added, reconciled.kept, reconciled.removed),
        (1, 1, 2)
    );
    house.started().await;
    assert_eq!(pid("same"), same_pid);
    assert_ne!(pid("changed"), changed_pid);
    let names = house.names(&house.main());
    assert!(
        names.contains(&"mcp_s_echo".to_owned()) && !names.iter().any(|it| it.contains("gone"))
    );
    assert!(
        eventually(SOON, || house.processes() == 2).await,
        "{}",
        house.processes()
    );
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_servers_run_than_may() {
    let fakes = [fake(""), fake(""), fake("")];
    let mut servers = json!({});
    for (number, fake) in fakes.iter().enumerate() {
        servers[format!("server{number}")] = entry(fake, json!({}));
    }
    let text = json!({ "mcp": { "servers": servers, "maxConcurrentServers": 2 } });
    let house = House::new(StartMode::Eager, &text, &fakes.iter().collect::<Vec<_>>());
    assert!(eventually(SOON, || ready(&house) == 2).await);
    let agent = house.main();
    let views = house.servers.view(&agent);
    assert_eq!(views[2].standing, Standing::OverLimit(2));
    house.servers.start(&agent, None).await;
    assert_eq!(house.processes(), 2);
    // Where one stops, another may start.
    let first = agent.server("server0").unwrap().clone();
    let third = agent.server("server2").unwrap().clone();
    house.servers.disconnect(&first).await;
    assert_eq!(
        house.servers.view_one(&agent, &first).standing,
        Standing::Held
    );
    house.servers.connect(&third).await;
    assert_eq!(ready(&house), 2);
    // What a person stopped stays so.
    house.servers.start(&agent, None).await;
    assert_eq!(house.processes(), 2);
    house.finish().await;
}

#[tokio::test]
async fn sessions_have_servers_of_their_own_where_that_is_wanted() {
    let fake = fake("");
    let text =
        json!({ "mcp": { "servers": { "own": entry(&fake, json!({"scope": "session"})) } } });
    let house = House::new(StartMode::OnDemand, &text, &[&fake]);
    let agent = house.started().await;
    assert_eq!(house.processes(), 1);
    house.servers.start_for(&agent, "agent:main:one").await;
    house.servers.start_for(&agent, "agent:main:two").await;
    assert_eq!(house.processes(), 3);
    let tools = house.servers.tools(&agent, Some("agent:main:one"));
    assert!(tools.get("mcp_own_echo").is_some());
    house.servers.end_session("agent:main:one").await;
    assert!(eventually(SOON, || house.processes() == 2).await);
    house.finish().await;
}

#[tokio::test]
async fn a_server_of_which_nothing_is_allowed_is_not_started() {
    let (one, two) = (fake(""), fake(""));
    let servers = json!({
        "one": entry(&one, json!({"toolFilter": {"exclude": ["*"]}})),
        "two": entry(&two, json!({})),
    });
    let text = json!({ "mcp": { "servers": servers }, "tools": {"deny": ["two/*"]} });
    let house = House::new(StartMode::Eager, &text, &[&one, &two]);
    let agent = house.started().await;
    assert_eq!(house.processes(), 0);
    for view in house.servers.view(&agent) {
        assert_eq!(view.standing, Standing::Denied);
    }
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_of_them_stop_within_six_seconds_whatever_they_do() {
    let fakes: Vec<_> = (0..6)
        .map(|it| {
            fake(if it % 2 == 0 {
                "--ignore-term --ignore-eof"
            } else {
                ""
            })
        })
        .collect();
    let mut servers = json!({});
    for (number, fake) in fakes.iter().enumerate() {
        servers[format!("server{number}")] = entry(fake, json!({}));
    }
    let text = json!({ "mcp": { "servers": servers } });
    let house = House::new(StartMode::Eager, &text, &fakes.iter().collect::<Vec<_>>());
    assert!(eventually(SOON, || ready(&house) == 6).await);
    let started = Instant::now();
    house.servers.shutdown().await;
    let took = started.elapsed();
    assert!(took < Duration::from_secs(6), "{took:?}");
    assert!(eventually(Duration::from_secs(1), || house.processes() == 0).await);
    house.finish().await;
}

#[tokio::test]
async fn a_tool_that_the_server_does_not_know_is_taken_off_the_list() {
    let fake = fake("--forget-tool echo");
    let text = json!({ "mcp": { "servers": { "fake": entry(&fake, json!({})) } } });
    let house = House::new(StartMode::OnDemand, &text, &[&fake]);
    let agent = house.started().await;
    assert!(house.names(&agent).contains(&"mcp_fake_echo".to_owned()));
    let outcome = house.call("fake/echo", json!({"message": "x"})).await;
    assert_eq!(
        outcome.end,
        CallEnd::NotDone,
        "{}",
        crate::house::text(&outcome)
    );
    assert!(!house.names(&agent).contains(&"mcp_fake_echo".to_owned()));
    assert!(house.names(&agent).contains(&"mcp_fake_add".to_owned()));
    house.finish().await;
}

#[tokio::test]
async fn a_changed_definition_is_noticed_and_blocked_where_that_is_wanted() {
    let fake = fake("");
    let text = json!({ "mcp": { "servers": {
        "fake": entry(&fake, json!({"pin": "block", "toolFilter": {"include": ["echo", "add"]}})),
    } } });
    let house = House::new(StartMode::OnDemand, &text, &[&fake]);
    let agent = house.started().await;
    assert_eq!(house.names(&agent).len(), 2);
    // Somebody else saw another definition first.
    let path = house.path().join("state/mcp/pins.json");
    let mut pins: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let hashes = pins.pointer_mut("/servers/fake").or(None);
    let hashes = match hashes {
        Some(hashes) => hashes,
        None => pins.pointer_mut("/data/servers/fake").unwrap(),
    };
    hashes["echo"] = json!("0".repeat(32));
    std::fs::write(&path, pins.to_string()).unwrap();
    house.servers.shutdown().await;
    let again = house.again(StartMode::OnDemand, &text);
    let agent = again.started().await;
    assert_eq!(again.names(&agent), ["mcp_fake_add"]);
    let outcome = again.call("fake/echo", json!({"message": "x"})).await;
    assert_eq!(outcome.end, CallEnd::Denied);
    assert!(crate::house::text(&outcome).contains("openclaw mcp approve mcp_fake_echo"));
    let tools = again.servers.tools(&agent, None);
    let tool = tools.all().find(|it| it.prepared.is_changed()).unwrap();
    again
        .servers
        .approve(&tool.server, &tool.prepared.definition)
        .unwrap();
    assert_eq!(again.names(&agent).len(), 2);
    again.finish().await;
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_may_be_renamed_or_removed_in_mid_call() {
    let fake = fake("");
    let named = |name: &str| json!({ "mcp": { "servers": { name: entry(&fake, json!({})) } } });
    let house = House::new(StartMode::Eager, &named("before"), &[&fake]);
    let agent = house.started().await;
    let call = house.call_as(&agent, "before/sleep", json!({"ms": 800}));
    let rename = async {
        house.until_busy("before").await;
        house.servers.reload(config(house.path(), &named("after")))
    };
    let (outcome, reconciled) = tokio::join!(call, rename);
    assert_eq!(outcome.end, CallEnd::Ok, "{}", text(&outcome));
    assert_eq!(
        (reconciled.kept, reconciled.removed),
        (1, 0),
        "a name is no launch"
    );
    let agent = house.started().await;
    assert!(house.names(&agent).contains(&"mcp_after_echo".to_owned()));
    let call = house.call_as(&agent, "after/sleep", json!({"ms": 800}));
    let remove = async {
        house.until_busy("after").await;
        house.servers.reload(config(house.path(), &json!({})))
    };
    let (outcome, _) = tokio::join!(call, remove);
    assert_eq!(outcome.end, CallEnd::Ok, "{}", text(&outcome));
    assert!(eventually(SOON, || house.processes() == 0).await);
    assert!(house.names(&house.main()).is_empty());
    house.finish().await;
}

#[tokio::test]
async fn five_thousand_tools_are_all_there_under_their_names() {
    let fake = fake("--tools 5000 --only-tools echo");
    let text = json!({ "mcp": { "servers": { "many": entry(&fake, json!({})) } } });
    let house = House::new(StartMode::OnDemand, &text, &[&fake]);
    let agent = house.started().await;
    let names = house.names(&agent);
    assert_eq!(names.len(), 5_001);
    assert!(names.is_sorted());
    let last = names.last().unwrap();
    let outcome = house.call(last, json!({})).await;
    assert_eq!(outcome.end, CallEnd::Ok, "{}", crate::house::text(&outcome));
    house.finish().await;
}

#[tokio::test]
async fn names_that_collide_after_cleaning_lead_to_their_own_servers() {
    let (one, two) = (fake(""), fake(""));
    let servers = json!({
        "my server": entry(&one, json!({"env": {"WHO_ONE": "1"}, "toolFilter": {"include": ["environment"]}})),
        "my.server": entry(&two, json!({"env": {"WHO_TWO": "2"}, "toolFilter": {"include": ["environment"]}})),
    });
    let text = json!({ "mcp": { "servers": servers } });
    let house = House::new(StartMode::OnDemand, &text, &[&one, &two]);
    let agent = house.started().await;
    let names = house.names(&agent);
    assert_eq!(names.len(), 2, "{names:?}");
    assert_ne!(names[0], names[1]);
    for (server, who) in [("my server", "WHO_ONE"), ("my.server", "WHO_TWO")] {
        let tools = house.servers.tools(&agent, None);
        let tool = tools.all().find(|it| it.server.name() == server).unwrap();
        let outcome = house.call(tool.name().as_str(), json!({})).await;
        let text = crate::house::text(&outcome);
        assert!(text.contains(who), "{server}: {text}");
    }
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_holds_however_servers_are_started() {
    let fakes: Vec<_> = (0..5).map(|_| fake("")).collect();
    let servers = |from: usize| {
        let mut servers = json!({});
        for (number, fake) in fakes.iter().enumerate().skip(from) {
            servers[format!("server{number}")] = entry(fake, json!({}));
        }
        json!({ "mcp": { "servers": servers, "maxConcurrentServers": 2 } })
    };
    let all: Vec<_> = fakes.iter().collect();
    let house = House::new(StartMode::OnDemand, &servers(0), &all);
    house.started().await;
    assert_eq!(house.processes(), 2, "all at once");
    house.finish().await;
    let house = House::new(StartMode::Eager, &servers(3), &all);
    assert!(eventually(SOON, || ready(&house) == 2).await);
    house.servers.reload(config(house.path(), &servers(0)));
    house.started().await;
    assert_eq!(house.processes(), 2, "those that run keep their places");
    house.finish().await;
}

#[tokio::test]
async fn what_was_shut_down_stays_so() {
    let fake = fake("");
    let text = json!({ "mcp": { "servers": { "fake": entry(&fake, json!({})) } } });
    let house = House::new(StartMode::Eager, &text, &[&fake]);
    let agent = house.started().await;
    house.servers.shutdown().await;
    house.servers.start(&agent, None).await;
    house.servers.reload(config(house.path(), &text));
    let outcome = house.call("fake/echo", json!({"message": "x"})).await;
    assert!(outcome.end.is_error());
    assert!(eventually(SOON, || house.processes() == 0).await);
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removed_server_is_not_started_for_those_who_still_know_it() {
    let fake = fake("");
    let text = json!({ "mcp": { "servers": { "fake": entry(&fake, json!({})) } } });
    let house = House::new(StartMode::OnDemand, &text, &[&fake]);
    let agent = house.started().await;
    house.servers.reload(config(house.path(), &json!({})));
    assert!(eventually(SOON, || house.processes() == 0).await);
    let outcome = house
        .call_as(&agent, "fake/echo", json!({"message": "x"}))
        .await;
    assert!(outcome.end.is_error(), "{outcome:?}");
    assert_eq!(house.processes(), 0);
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_ends_although_somebody_wants_it_again() {
    let fake = fake("--ignore-term --ignore-eof");
    let text = json!({ "mcp": { "servers": { "fake": entry(&fake, json!({})) } } });
    let house = House::new(StartMode::OnDemand, &text, &[&fake]);
    let agent = house.started().await;
    let server = agent.server("fake").unwrap().clone();
    let disconnect = house.servers.disconnect(&server);
    let connect = async {
        let is_closing = || {
            let state = house.servers.view_one(&agent, &server).state;
            state.is_some_and(|state| state.connection.is_none())
        };
        assert!(eventually(SOON, is_closing).await);
        house.servers.connect(&server).await
    };
    let both = async { tokio::join!(disconnect, connect) };
    let ((), state) = tokio::time::timeout(SOON, both).await.unwrap();
    assert_eq!(state.unwrap().status, Status::Ready);
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn looking_at_a_failed_server_does_not_start_it() {
    let fake = fake("--exit-after 1");
    let more = json!({"maxRestarts": 0});
    let text = json!({ "mcp": { "servers": { "fake": entry(&fake, more) } } });
    let house = House::new(StartMode::OnDemand, &text, &[&fake]);
    let agent = house.started().await;
    let failed = |house: &House| {
        let view = house.servers.view(&agent).remove(0);
        view.state.unwrap()
    };
    assert_eq!(failed(&house).status, Status::Failed);
    let starts = fake.journal().events("started").len();
    for _ in 0..5 {
        house.started().await;
    }
    assert_eq!(failed(&house).status, Status::Failed);
    assert_eq!(fake.journal().events("started").len(), starts);
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disconnected_server_is_gone_for_sessions_too() {
    let fake = fake("");
    let text =
        json!({ "mcp": { "servers": { "own": entry(&fake, json!({"scope": "session"})) } } });
    let house = House::new(StartMode::OnDemand, &text, &[&fake]);
    let agent = house.main();
    house
        .servers
        .start_for(&agent, "agent:main:secret-session")
        .await;
    assert_eq!(house.processes(), 1);
    let server = agent.server("own").unwrap().clone();
    house.servers.disconnect(&server).await;
    assert!(eventually(SOON, || house.processes() == 0).await);
    let outcome = house.call("own/echo", json!({"message": "x"})).await;
    assert!(outcome.end.is_error());
    assert_eq!(house.processes(), 0);
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_that_are_no_launch_hold_after_a_reload() {
    let fake = fake("");
    let with = |timeout: u64| {
        let more = json!({"requestTimeoutMs": timeout});
        json!({ "mcp": { "servers": { "fake": entry(&fake, more) } } })
    };
    let house = House::new(StartMode::OnDemand, &with(200), &[&fake]);
    house.started().await;
    let outcome = house.call("fake/sleep", json!({"ms": 600})).await;
    assert_eq!(outcome.end, CallEnd::Unknown);
    house.servers.reload(config(house.path(), &with(30_000)));
    let outcome = house.call("fake/sleep", json!({"ms": 600})).await;
    assert_eq!(outcome.end, CallEnd::Ok, "{}", text(&outcome));
    assert_eq!(house.processes(), 1);
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_of_a_changed_server_stay_listed() {
    let fake = fake("--initialize-delay 700");
    let with = |variable: &str| {
        let more = json!({"env": {"A": variable}});
        json!({ "mcp": { "servers": { "fake": entry(&fake, more) } } })
    };
    let house = House::new(StartMode::Eager, &with("1"), &[&fake]);
    house.started().await;
    house.servers.reload(config(house.path(), &with("2")));
    assert!(
        house
            .names(&house.main())
            .contains(&"mcp_fake_echo".to_owned())
    );
    let outcome = house.call("fake/echo", json!({"message": "x"})).await;
    assert_eq!(outcome.end, CallEnd::Ok, "{}", text(&outcome));
    house.finish().await;
}
