//! Searching many tools.

use std::time::{Duration, Instant};

use openclaw_testkit::figures::{Report, median, micros};
use serde_json::{Map, Value, json};
use tokio::runtime::Builder;

use crate::house::{House, entry};

/// What it may take.
const BUDGET: Duration = Duration::from_millis(5);
/// How often it is measured.
const TIMES: usize = 100;

pub(crate) fn measure(report: &mut Report) {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(search(report));
}

async fn search(report: &mut Report) {
    let servers: Map<String, Value> = (0..10)
        .map(|number| {
            let flags = ["--tools", "1000", "--only-tools", "echo"];
            (format!("server{number}"), entry(&flags))
        })
        .collect();
    let house = House::started(&Value::Object(servers)).await;
    let count = house.servers.tools(&house.agent, None).offered().count();
    assert!(count >= 10_000, "all are there");
    let started = Instant::now();
    found(&house, "mcp_search_tools", "query", "echo", 5).await;
    let first = micros(started.elapsed());
    Report::say("10,000 tools, searched for the first time", &first);
    for (what, tool, key, text, least) in [
        (
            "10,000 tools, a search that fits all",
            "mcp_search_tools",
            "query",
            "a generated tool",
            5,
        ),
        (
            "10,000 tools, a search by name",
            "mcp_search_tools",
            "query",
            "server7/generated_777",
            1,
        ),
        (
            "10,000 tools, a description",
            "mcp_describe_tool",
            "name",
            "server7/generated_777",
            1,
        ),
    ] {
        let mut times = Vec::with_capacity(TIMES);
        for _ in 0..TIMES {
            let started = Instant::now();
            found(&house, tool, key, text, least).await;
            times.push(started.elapsed());
        }
        let took = median(times);
        report.judge(what, &micros(took), "5 ms", took < BUDGET);
    }
    let started = Instant::now();
    let unknown = house
        .call("mcp_describe_tool", named("server7/generated7_77"))
        .await;
    assert!(unknown.end.is_error(), "there is no such tool");
    let took = micros(started.elapsed());
    Report::say("10,000 tools, suggestions for a name that is none", &took);
    house.servers.shutdown().await;
}

fn named(name: &str) -> Map<String, Value> {
    Map::from_iter([("name".to_owned(), json!(name))])
}

async fn found(house: &House, tool: &str, key: &str, text: &str, least: usize) {
    let arguments = Map::from_iter([(key.to_owned(), json!(text))]);
    let outcome = house.call(tool, arguments).await;
    assert!(outcome.found.len() >= least, "{}", outcome.text());
}
