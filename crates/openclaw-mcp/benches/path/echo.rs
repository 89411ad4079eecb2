//! A call beside the bare client.

use std::time::{Duration, Instant};

use openclaw_mcp_client::CallOptions;
use openclaw_testkit::figures::{Report, median, micros};
use serde_json::json;
use tokio::runtime::Builder;

use crate::house::{House, entry, message};

/// How many calls are measured at a time.
const PART: usize = 50;
/// How often both take turns, so that a busy moment hits both.
const TURNS: usize = 60;
/// What the way may cost.
const BUDGET: Duration = Duration::from_micros(30);

pub(crate) fn measure(report: &mut Report) {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let (bare, whole) = runtime.block_on(async {
        let house = House::started(&json!({ "fake": entry(&[]) })).await;
        let state = house.servers.view(&house.agent).remove(0).state;
        let connection = state
            .and_then(|state| state.connection)
            .expect("a connection");
        let text = "one kilobyte of text. ".repeat(47);
        let (mut bare, mut whole) = (Vec::new(), Vec::new());
        for turn in 0..TURNS {
            for _ in 0..PART {
                let started = Instant::now();
                let call = connection.call_tool("echo", message(&text), CallOptions::default());
                call.await.expect("an echo");
                let took = started.elapsed();
                let started = Instant::now();
                let outcome = house.call("mcp_fake_echo", message(&text)).await;
                assert!(!outcome.end.is_error(), "{outcome:?}");
                // The first turns only warm up.
                if turn >= TURNS / 10 {
                    bare.push(took);
                    whole.push(started.elapsed());
                }
            }
        }
        house.servers.shutdown().await;
        (median(bare), median(whole))
    });
    Report::say("echo of 1 KB, the bare client", &micros(bare));
    Report::say("echo of 1 KB, the whole way", &micros(whole));
    let added = whole.saturating_sub(bare);
    let what = "policy, names, pins, arguments, framing and audit add";
    report.judge(what, &micros(added), "30 µs", added <= BUDGET);
}
