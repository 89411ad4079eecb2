//! A call over the gateway's HTTP, beside the pipe and beside other gateways.

use std::time::Duration;

use openclaw_testkit::figures::median;

use crate::sheet::{Sheet, WayFigures, millis};
use crate::ways::Way;

/// How often all take turns, so that a busy moment hits all alike.
const ROUNDS: usize = 15;
/// How many calls are made one by one in a round.
const CALLS: usize = 200;
/// For how long they are made with some in flight, in a round. It is as long for all of them: those that take
/// few calls would else be measured for longer, and the quick ones before they have come up to speed.
const IN_FLIGHT: Duration = Duration::from_millis(250);
/// What a call may take longer than over the pipe.
const BUDGET: Duration = Duration::from_micros(300);

/// What one way gave, round by round.
#[derive(Default)]
struct Rounds {
    halves: Vec<Duration>,
    mosts: Vec<Duration>,
    rates: Vec<f64>,
}

pub(crate) fn measure(sheet: &mut Sheet) {
    let mut ways = Way::all();
    for way in &mut ways {
        way.one_by_one(CALLS);
        way.rate(IN_FLIGHT);
    }
    let mut measured: Vec<Rounds> = ways.iter().map(|_| Rounds::default()).collect();
    for round in 0..ROUNDS {
        for turn in 0..ways.len() {
            // Nobody is always behind the same one.
            let at = (round + turn) % ways.len();
            let mut took = ways[at].one_by_one(CALLS);
            took.sort_unstable();
            measured[at].halves.push(took[CALLS / 2]);
            measured[at].mosts.push(took[CALLS * 99 / 100]);
        }
        for turn in 0..ways.len() {
            let at = (round + turn) % ways.len();
            let rate = ways[at].rate(IN_FLIGHT);
            measured[at].rates.push(rate);
        }
    }
    for (way, rounds) in ways.iter().zip(&measured) {
        sheet.way(WayFigures {
            name: way.name.clone(),
            half: median(rounds.halves.clone()),
            most: median(rounds.mosts.clone()),
            rate: middle(rounds.rates.clone()),
        });
    }
    let [limit, asking, one, two, at_once, least, ..] = &measured[..] else {
        unreachable!("all ways were measured")
    };
    judge_delay(
        sheet,
        "p50 of a call over HTTP/1.1, more than over the pipe",
        limit,
        one,
    );
    judge_delay(sheet, "the same over HTTP/2", limit, two);
    let rate = middle(one.rates.clone());
    sheet.judge(
        "calls a second with 16 in flight over HTTP/1.1",
        &format!("{rate:.0}"),
        "10000",
        rate >= 10_000.0,
    );
    judge_rate(sheet, "of the pipe's calls", limit, one);
    judge_rate(sheet, "the same over HTTP/2", limit, two);
    judge_rate(sheet, "the same over one WebSocket", limit, at_once);
    sheet.say(
        "over HTTP/1.1, of the calls of a pipe that asks for progress as well",
        &percent(share(&asking.rates, &one.rates)),
    );
    sheet.say(
        "the same of the least that a gateway can do over HTTP/1.1",
        &percent(share(&limit.rates, &least.rates)),
    );
}

/// How much longer a call takes than over the limit, each round by itself: what disturbs a round disturbs both.
fn judge_delay(sheet: &mut Sheet, what: &str, limit: &Rounds, ours: &Rounds) {
    let both = limit.halves.iter().zip(&ours.halves);
    let more = both.map(|(limit, ours)| ours.saturating_sub(*limit));
    let more = median(more.collect());
    sheet.judge(what, &millis(more), "0.3 ms", more <= BUDGET);
}

/// What part of the limit's calls are made, each round by itself, too.
fn judge_rate(sheet: &mut Sheet, what: &str, limit: &Rounds, ours: &Rounds) {
    let share = share(&limit.rates, &ours.rates);
    sheet.judge(what, &percent(share), "50 %", share >= 0.5);
}

/// What part of the limit's calls a way makes.
fn share(limit: &[f64], rates: &[f64]) -> f64 {
    let both = limit.iter().zip(rates);
    middle(both.map(|(limit, rate)| rate / limit).collect())
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}
