//! Names that share a server, and calls that meet a change.

use openclaw_mcp::{CallEnd, StartMode, Status};
use openclaw_testkit::leaks::eventually;
use serde_json::{Value, json};

use crate::house::{House, config, entry, fake, text};
use crate::lab::SOON;

fn status(house: &House, name: &str) -> Option<Status> {
    let views = house.servers.view(&house.main());
    let view = views.into_iter().find(|it| it.server.name() == name)?;
    Some(view.state?.status)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_stay_listed_where_one_of_two_names_of_a_server_changes() {
    let fake = fake("--initialize-delay 700");
    let with = |more: Value| {
        let servers = json!({ "a": entry(&fake, json!({})), "b": entry(&fake, more) });
        json!({ "mcp": { "servers": servers } })
    };
    let house = House::new(StartMode::Eager, &with(json!({})), &[&fake]);
    house.started().await;
    assert_eq!(house.processes(), 1);
    let changed = with(json!({ "env": { "A": "b" } }));
    house.servers.reload(config(house.path(), &changed));
    let names = house.names(&house.main());
    for name in ["mcp_a_echo", "mcp_b_echo"] {
        assert!(names.iter().any(|it| it == name), "{name}: {names:?}");
    }
    let outcome = house.call("b/echo", json!({"message": "x"})).await;
    assert_eq!(outcome.end, CallEnd::Ok, "{}", text(&outcome));
    assert_eq!(house.processes(), 2);
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_looked_after_as_the_most_generous_of_its_names_wants() {
    let (shared, control) = (fake(""), fake(""));
    let strict = json!({ "idleTimeoutMs": 1_000, "lazy": true });
    let servers = json!({
        "a": entry(&shared, strict.clone()),
        "b": entry(&shared, json!({})),
        "control": entry(&control, strict),
    });
    let text = json!({ "mcp": { "servers": servers } });
    let house = House::new(StartMode::Eager, &text, &[&shared, &control]);
    let is = |name: &str, wanted| status(&house, name) == Some(wanted);
    assert!(
        eventually(SOON, || is("a", Status::Ready)).await,
        "b is not lazy"
    );
    assert!(is("control", Status::Stopped), "it is lazy");
    // Used later than the other, and so what stops it has stopped the other one before.
    let outcome = house.call("control/echo", json!({"message": "x"})).await;
    assert_eq!(outcome.end, CallEnd::Ok);
    assert!(eventually(SOON, || is("control", Status::Stopped)).await);
    assert!(is("a", Status::Ready) && is("b", Status::Ready));
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_the_old_server_refused_is_written_down() {
    let busy = "http --status 503 --status-on tools/call --retry-after 1";
    let busy = fake(busy).start().unwrap();
    let good = fake("");
    let with = |entry: Value| json!({ "mcp": { "servers": { "mine": entry } } });
    let before = with(json!({ "url": busy.url(), "type": "http" }));
    let house = House::new(StartMode::Eager, &before, &[&good]);
    let agent = house.started().await;
    let call = house.call_as(&agent, "mine/echo", json!({"message": "x"}));
    let reload = async {
        house.until_busy("mine").await;
        let after = with(entry(&good, json!({})));
        house.servers.reload(config(house.path(), &after));
    };
    let (outcome, ()) = tokio::join!(call, reload);
    assert_eq!(outcome.end, CallEnd::Ok, "{}", text(&outcome));
    let written = house.audit();
    let outcomes: Vec<_> = written
        .iter()
        .map(|line| line["outcome"].as_str())
        .collect();
    assert_eq!(outcomes, [Some("not-done"), Some("ok")]);
    house.finish().await;
}
