//! Putting many tools together.

use std::hint::black_box;
use std::time::{Duration, Instant};

use openclaw_testkit::figures::{Report, median, micros};
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::house::{House, entry};

/// What it may take.
const BUDGET: Duration = Duration::from_millis(5);
/// How often it is measured.
const TIMES: usize = 30;
/// And what takes next to nothing.
const MANY: u32 = 1_000;

pub(crate) fn measure(report: &mut Report) {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let servers: serde_json::Map<_, _> = (0..10)
        .map(|number| {
            let flags = ["--tools", "500", "--only-tools", "echo"];
            (format!("server{number}"), entry(&flags))
        })
        .collect();
    let free = json!({ "mcp": { "servers": servers } });
    let mut bound = free.clone();
    bound["tools"] = json!({
        "allow": ["mcp_server*", "group:plugins"],
        "deny": ["*delete*", "server3/generated_7"],
    });
    for (what, text) in [("5,000 tools", free), ("5,000 tools and a policy", bound)] {
        runtime.block_on(put_together(what, &text, report));
    }
}

/// How long each of many takes that take next to nothing.
fn each<T>(mut work: impl FnMut() -> T) -> String {
    let started = Instant::now();
    for _ in 0..MANY {
        black_box(work());
    }
    let took = started.elapsed().as_nanos() / u128::from(MANY);
    format!("{took} ns")
}

async fn put_together(what: &str, text: &Value, report: &mut Report) {
    let house = House::with(text).await;
    let started = Instant::now();
    let count = house.servers.tools(&house.agent, None).offered().count();
    let first = micros(started.elapsed());
    Report::say(&format!("{what}, made ready for the first time"), &first);
    assert!(count >= 5_000, "all are there");
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let started = Instant::now();
        let tools = house.servers.assembled_anew(&house.agent);
        assert_eq!(tools.offered().count(), count, "all are there");
        times.push(started.elapsed());
    }
    let took = median(times);
    let line = format!("{what}, put together");
    report.judge(&line, &micros(took), "5 ms", took < BUDGET);
    let again = each(|| house.servers.tools(&house.agent, None));
    Report::say(&format!("{what}, when nothing changed"), &again);
    let tools = house.servers.tools(&house.agent, None);
    // The first time, what it is found with is made.
    tools.find("server7/generated_42");
    let found = each(|| tools.find("server7/generated_42"));
    Report::say(&format!("{what}, the one that a person writes"), &found);
    house.servers.shutdown().await;
}
