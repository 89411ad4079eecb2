//! What was measured: printed line by line, and kept for the page.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use openclaw_testkit::figures::Report;

/// What one way of calling costs.
pub(crate) struct WayFigures {
    pub(crate) name: String,
    /// One call at a time: the middle, and what one of a hundred takes longer than.
    pub(crate) half: Duration,
    pub(crate) most: Duration,
    /// Calls each second with 16 in flight.
    pub(crate) rate: f64,
}

/// All figures.
#[derive(Default)]
pub(crate) struct Sheet {
    report: Report,
    ways: Vec<WayFigures>,
    memory: Vec<(String, u64)>,
    rows: Vec<[String; 3]>,
}

impl Sheet {
    /// A figure beside its budget.
    pub(crate) fn judge(&mut self, what: &str, figure: &str, budget: &str, kept: bool) {
        self.report.judge(what, figure, budget, kept);
        let figure = if kept {
            figure.to_owned()
        } else {
            format!("**{figure}**, not kept")
        };
        self.rows.push([what.to_owned(), figure, budget.to_owned()]);
    }

    /// A figure without a budget.
    pub(crate) fn say(&mut self, what: &str, figure: &str) {
        Report::say(what, figure);
        self.rows
            .push([what.to_owned(), figure.to_owned(), String::new()]);
    }

    /// What a way of calling costs.
    pub(crate) fn way(&mut self, figures: WayFigures) {
        let name = &figures.name;
        Report::say(&format!("{name}, p50"), &millis(figures.half));
        Report::say(&format!("{name}, p99"), &millis(figures.most));
        Report::say(
            &format!("{name}, 16 in flight"),
            &format!("{:.0} /s", figures.rate),
        );
        self.ways.push(figures);
    }

    /// The memory of a way's own process with ten servers.
    pub(crate) fn memory(&mut self, name: &str, bytes: u64) {
        Report::say(
            &format!("{name}, memory with 10 servers"),
            &megabytes(bytes),
        );
        self.memory.push((name.to_owned(), bytes));
    }

    /// Writes the page where that is wanted, and says whether all budgets were kept.
    pub(crate) fn finish(self) -> ExitCode {
        if let Some(path) = std::env::var_os("OPENCLAW_BENCH_PAGE") {
            std::fs::write(path, self.page()).expect("the page is written");
        }
        if self.report.is_kept() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    fn page(&self) -> String {
        let mut page = String::from(
            "| one `echo` on server-everything | p50 | p99 | calls/s, 16 in flight | its own memory, 10 servers |\n\
             |---|---|---|---|---|\n",
        );
        for way in &self.ways {
            let memory = self.memory.iter().find(|(name, _)| *name == way.name);
            let memory = memory.map_or_else(|| "–".to_owned(), |(_, bytes)| megabytes(*bytes));
            let WayFigures {
                name,
                half,
                most,
                rate,
            } = way;
            let (half, most) = (millis(*half), millis(*most));
            let _ = writeln!(page, "| {name} | {half} | {most} | {rate:.0} | {memory} |");
        }
        page.push_str("\n| the gateway | measured | budget |\n|---|---|---|\n");
        for [what, figure, budget] in &self.rows {
            let _ = writeln!(page, "| {what} | {figure} | {budget} |");
        }
        page
    }
}

/// A duration in milliseconds.
pub(crate) fn millis(duration: Duration) -> String {
    format!("{:.2} ms", duration.as_secs_f64() * 1e3)
}

/// An amount of memory in millions of bytes, as the budgets count.
pub(crate) fn megabytes(bytes: u64) -> String {
    let tenths = bytes.div_ceil(100_000);
    format!("{}.{} MB", tenths / 10, tenths % 10)
}
