//! From the start of the process to the line that says that the gateway is ready.

use std::time::Duration;

use openclaw_testkit::figures::median;

use crate::gateway::{Gateway, Home, light};
use crate::sheet::{Sheet, millis};

/// How many starts count.
const RUNS: usize = 20;
/// What a start may take.
const BUDGET: Duration = Duration::from_millis(50);

pub(crate) fn measure(sheet: &mut Sheet) {
    let mut home = Home::with(&light(10));
    let mut took = Vec::new();
    // The first one makes the files of the state directory, and does not count.
    for run in 0..=RUNS {
        let gateway = Gateway::start_in(home);
        if run > 0 {
            took.push(gateway.ready_after);
        }
        home = gateway.stop();
    }
    let took = median(took);
    sheet.judge(
        "ready, with 10 servers configured",
        &millis(took),
        "50 ms",
        took < BUDGET,
    );
}
