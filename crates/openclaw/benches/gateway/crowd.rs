//! Many servers: what they cost in memory, and what they cost while nobody asks.

use std::time::{Duration, Instant};

use openclaw_testkit::memory::resident;

use crate::gateway::{Gateway, light};
use crate::peers::{Peer, everything};
use crate::process::{anonymous, child_named, spent};
use crate::sheet::{Sheet, megabytes};
use crate::ways::OURS;

/// How long the gateway is watched while nobody asks: twice as long as a heartbeat is away.
const IDLE: Duration = Duration::from_mins(1);
/// How long things may settle after servers have connected.
const SETTLING: Duration = Duration::from_secs(3);
/// What the process that starts servers is called.
const GUARDIAN: &str = "openclaw-guard";

const TEN: u64 = 15_000_000;
const HUNDRED: u64 = 40_000_000;

pub(crate) fn measure(sheet: &mut Sheet) {
    ten(sheet);
    hundred(sheet);
}

fn ten(sheet: &mut Sheet) {
    let gateway = Gateway::start(&everything(10)).all_ready(10);
    let bytes = memory_of(sheet, &gateway, "10", TEN, "15 MB");
    drop(gateway);
    sheet.memory(OURS, bytes);
    for start in [Peer::hub, Peer::proxy] {
        let peer = start(10);
        settle();
        let bytes = resident(peer.pid()).expect("a figure");
        sheet.memory(&peer.name, bytes);
    }
}

fn hundred(sheet: &mut Sheet) {
    let gateway = Gateway::start(&light(100)).all_ready(100);
    memory_of(sheet, &gateway, "100", HUNDRED, "40 MB");
    let guardian = child_named(gateway.pid(), GUARDIAN);
    let spent_so_far = || spent(gateway.pid()) + guardian.map(spent).unwrap_or_default();
    let (before, started) = (spent_so_far(), Instant::now());
    settle_for(IDLE);
    let share =
        spent_so_far().saturating_sub(before).as_secs_f64() / started.elapsed().as_secs_f64();
    sheet.judge(
        "a core, with 100 idle servers, the guardian included",
        &format!("{:.2} %", share * 100.0),
        "1 %",
        share < 0.01,
    );
}

/// The memory of a gateway: what is judged is all that is resident, files included that are mapped.
fn memory_of(sheet: &mut Sheet, gateway: &Gateway, count: &str, most: u64, budget: &str) -> u64 {
    settle();
    let bytes = resident(gateway.pid()).expect("a figure");
    sheet.judge(
        &format!("memory (`VmRSS`) with {count} stdio servers"),
        &megabytes(bytes),
        budget,
        bytes < most,
    );
    sheet.say(
        &format!("of it, what is not mapped from files (`RssAnon`), {count} servers"),
        &megabytes(anonymous(gateway.pid())),
    );
    if let Some(guardian) = child_named(gateway.pid(), GUARDIAN) {
        let bytes = resident(guardian).expect("a figure");
        let what = format!("the guardian beside it, {count} servers");
        sheet.say(&what, &megabytes(bytes));
    }
    bytes
}

fn settle() {
    settle_for(SETTLING);
}

/// Waits; there is nothing to wait for but time.
fn settle_for(time: Duration) {
    std::thread::sleep(time);
}
