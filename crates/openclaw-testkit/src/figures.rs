//! Figures of benchmarks: medians, and how they stand to their budgets.

#![expect(clippy::print_stdout, reason = "benchmarks print what they have")]

use std::time::Duration;

/// What was measured, printed line by line.
#[derive(Default)]
pub struct Report {
    broken: usize,
}

impl Report {
    /// Prints a figure without a budget.
    pub fn say(what: &str, figure: &str) {
        println!("{what:<58} {figure:>12}");
    }

    /// Prints a figure beside its budget.
    pub fn judge(&mut self, what: &str, figure: &str, budget: &str, kept: bool) {
        let verdict = if kept { "kept" } else { "BROKEN" };
        println!("{what:<58} {figure:>12}   budget {budget}: {verdict}");
        self.broken += usize::from(!kept);
    }

    /// Whether all budgets were kept.
    pub fn is_kept(&self) -> bool {
        self.broken == 0
    }
}

/// The middle of some durations.
pub fn median(mut durations: Vec<Duration>) -> Duration {
    durations.sort_unstable();
    durations
        .get(durations.len() / 2)
        .copied()
        .unwrap_or_default()
}

/// A duration in microseconds.
pub fn micros(duration: Duration) -> String {
    format!("{:.1} µs", duration.as_secs_f64() * 1e6)
}

/// How often one duration contains another.
pub fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}
