//! What is wrong with the files of a configuration, as plain data.

use openclaw_config::{Problem, Report, Severity, ShownLines};
use openclaw_engine::{ConfigurationProblem, EngineFailure, ProblemSeverity};
use openclaw_secrets::Redactor;

use crate::definitions::Definitions;

/// What is wrong with the files of a configuration.
#[derive(Debug)]
pub struct FoundProblems {
    /// Whether the main file is there.
    pub exists: bool,
    /// What is wrong, in the order of the files.
    pub problems: Vec<ConfigurationProblem>,
    /// How many problems there are that are not listed.
    pub omitted: usize,
}

impl Definitions {
    /// Reads the files anew, and says what is wrong with them: so many problems at most, errors before
    /// warnings. What is in force stays as it is.
    pub async fn problems(&self, most: usize) -> Result<FoundProblems, EngineFailure> {
        self.elsewhere(move |it| {
            let exists = it.location().config.exists();
            let report = it.load().report;
            let mut room = Room::of(&report, most);
            let mut words = ProblemWords::new(&report, it.redactor());
            let all = report.problems();
            let told = all.iter().filter(|problem| room.has(problem.severity()));
            let problems: Vec<_> = told.map(|problem| words.of(problem)).collect();
            FoundProblems {
                exists,
                omitted: report.omitted() + all.len() - problems.len(),
                problems,
            }
        })
        .await
    }
}

/// How many problems there is room for: warnings never keep errors out.
struct Room {
    errors: usize,
    warnings: usize,
}

impl Room {
    fn of(report: &Report, most: usize) -> Self {
        let errors = report.errors().count().min(most);
        Self {
            errors,
            warnings: most - errors,
        }
    }

    /// Takes a place, if there is one.
    fn has(&mut self, severity: Severity) -> bool {
        let left = match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        let is_there = *left > 0;
        *left = left.saturating_sub(1);
        is_there
    }
}

/// Puts the problems of a report into plain data that shows no credential.
pub struct ProblemWords<'r> {
    report: &'r Report,
    lines: ShownLines<'r>,
    redactor: &'r Redactor,
}

impl<'r> ProblemWords<'r> {
    /// Makes ready for the problems of a report.
    pub fn new(report: &'r Report, redactor: &'r Redactor) -> Self {
        Self {
            report,
            lines: ShownLines::new(report),
            redactor,
        }
    }

    /// One of its problems.
    pub fn of(&mut self, problem: &Problem) -> ConfigurationProblem {
        let source = self.lines.of(problem);
        // The report hides credentials itself; the filter is the second line.
        let hidden = |text: &str| self.redactor.redact(text).into_owned();
        let position = self.report.position(problem);
        ConfigurationProblem {
            severity: match problem.severity() {
                Severity::Error => ProblemSeverity::Error,
                Severity::Warning => ProblemSeverity::Warning,
            },
            file: Some(hidden(&self.report.file(problem).display().to_string())),
            path: hidden(&problem.path().to_string()),
            message: hidden(problem.message()),
            line: position.map(|position| position.line),
            column: position.map(|position| position.column),
            suggestion: problem.suggestion().map(hidden),
            help: problem.help_text().map(hidden),
            source: source.as_deref().map(hidden),
        }
    }
}

#[cfg(test)]
mod tests;
