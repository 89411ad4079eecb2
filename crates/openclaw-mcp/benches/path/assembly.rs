//! Putting many tools together.

use std::time::{Duration, Instant};

use openclaw_testkit::figures::{Report, median, micros};
use serde_json::json;
use tokio::runtime::Builder;

use crate::house::{House, entry};

/// What it may take.
const BUDGET: Duration = Duration::from_millis(5);
/// How often it is measured.
const TIMES: usize = 30;

pub(crate) fn measure(report: &mut Report) {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(async {
        let servers: serde_json::Map<_, _> = (0..10)
            .map(|number| {
                (
                    format!("server{number}"),
                    entry(&["--tools", "500", "--only-tools", "echo"]),
                )
            })
            .collect();
        let house = House::started(&json!(servers)).await;
        let started = Instant::now();
        let count = house.servers.tools(&house.agent, None).offered().count();
        Report::say(
            "tools made ready for the first time",
            &micros(started.elapsed()),
        );
        assert_eq!(count, 5_010, "all are there");
        let mut times = Vec::new();
        for _ in 0..TIMES {
            let started = Instant::now();
            let tools = house.servers.assembled_anew(&house.agent);
            assert_eq!(tools.offered().count(), count, "all are there");
            times.push(started.elapsed());
        }
        let took = median(times);
        report.judge(
            "5,000 tools put together",
            &micros(took),
            "5 ms",
            took < BUDGET,
        );
        let started = Instant::now();
        house.servers.tools(&house.agent, None);
        Report::say("the same when nothing changed", &micros(started.elapsed()));
        house.servers.shutdown().await;
    });
}
