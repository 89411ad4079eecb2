//! A whole `openclaw mcp call` that finds a gateway, from its start to its end.

use std::process::Stdio;
use std::time::{Duration, Instant};

use openclaw_testkit::figures::median;

use crate::gateway::{Gateway, Home, light};
use crate::peers::everything;
use crate::sheet::{Sheet, millis};

/// How many runs count.
const RUNS: usize = 50;
/// What a call may take in all.
const BUDGET: Duration = Duration::from_millis(8);

pub(crate) fn measure(sheet: &mut Sheet) {
    let gateway = Gateway::start(&everything(1)).all_ready(1);
    let version = of_runs(&gateway.home, &["--version"], "openclaw");
    sheet.say(
        "`openclaw --version`, the cost of starting it",
        &millis(version),
    );
    let call = ["mcp", "call", "everything0/echo", "message=hello"];
    let took = of_runs(&gateway.home, &call, "Echo: hello");
    sheet.judge(
        "`openclaw mcp call` on server-everything, start to end",
        &millis(took),
        "8 ms",
        took <= BUDGET,
    );
    drop(gateway);
    let gateway = Gateway::start(&light(1)).all_ready(1);
    let call = ["mcp", "call", "server0/echo", "message=hello"];
    let took = of_runs(&gateway.home, &call, "hello");
    sheet.say(
        "`openclaw mcp call` on a server that does nothing else",
        &millis(took),
    );
}

/// The middle of many runs; the first ones, which warm up, don't count.
fn of_runs(home: &Home, arguments: &[&str], expected: &str) -> Duration {
    let run = || {
        let started = Instant::now();
        let output = home
            .command(arguments)
            .stderr(Stdio::inherit())
            .output()
            .expect("the program starts");
        let took = started.elapsed();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains(expected), "{said}");
        took
    };
    for _ in 0..5 {
        run();
    }
    median((0..RUNS).map(|_| run()).collect())
}
