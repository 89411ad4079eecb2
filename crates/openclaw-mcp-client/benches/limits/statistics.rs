//! Medians, and how they stand to their budgets.

use std::time::Duration;

/// What was measured, printed line by line.
#[derive(Default)]
pub(crate) struct Report {
    broken: usize,
}

impl Report {
    /// Prints a figure without a budget.
    pub(crate) fn say(what: &str, figure: &str) {
        println!("{what:<58} {figure:>12}");
    }

    /// Prints a figure beside its budget.
    pub(crate) fn judge(&mut self, what: &str, figure: &str, budget: &str, kept: bool) {
        let verdict = if kept { "kept" } else { "BROKEN" };
        println!("{what:<58} {figure:>12}   budget {budget}: {verdict}");
        self.broken += usize::from(!kept);
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.broken == 0
    }
}

/// The middle of some durations.
pub(crate) fn median(mut durations: Vec<Duration>) -> Duration {
    durations.sort_unstable();
    durations[durations.len() / 2]
}

pub(crate) fn micros(duration: Duration) -> String {
    format!("{:.1} µs", duration.as_secs_f64() * 1e6)
}

pub(crate) fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}
