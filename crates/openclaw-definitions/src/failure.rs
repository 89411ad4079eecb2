//! Why it was not done.

use openclaw_config::{EditError, Report};
use openclaw_engine::EngineFailure;
use thiserror::Error;

/// Why a definition was not written.
#[derive(Debug, Error)]
pub enum DefinitionError {
    /// Whoever waited for the keyring did not want to any longer.
    #[error("it was stopped before anything was written")]
    Stopped,
    /// It failed.
    #[error(transparent)]
    Failed(#[from] EngineFailure),
}

impl From<DefinitionError> for EngineFailure {
    fn from(error: DefinitionError) -> Self {
        match error {
            DefinitionError::Stopped => Self::operation("stopped", error.to_string()),
            DefinitionError::Failed(failure) => failure,
        }
    }
}

/// The failure that tells all errors of a configuration.
pub fn unusable(report: &Report) -> EngineFailure {
    EngineFailure::asker("config", config_errors(report).join("\n"))
        .hint("run `openclaw config validate` for the details")
}

/// The errors of a configuration, a sentence each.
pub fn config_errors(report: &Report) -> Vec<String> {
    report
        .errors()
        .map(|problem| match report.position(problem) {
            Some(position) => format!(
                "{}:{}:{}: {}",
                report.file(problem).display(),
                position.line,
                position.column,
                problem.message()
            ),
            None => problem.message().to_owned(),
        })
        .collect()
}

/// The failure of naming a server that no agent has.
pub fn unknown_server<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> EngineFailure {
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    known.dedup();
    let message = format!("there is no server {name:?}");
    let failure = EngineFailure::asker("unknown-server", message);
    if known.is_empty() {
        failure.hint("no MCP servers are configured; add one with `openclaw mcp connect`")
    } else {
        failure.hint(format!("the servers are: {}", known.join(", ")))
    }
}

/// The failure of adding a server that is there already.
pub(crate) fn exists(name: &str) -> EngineFailure {
    EngineFailure::asker("exists", format!("there is a server {name:?} already"))
        .hint("replace it with `--force`, or give the new one another name with `--name`")
}

/// What was typed does not go together.
pub(crate) fn usage(message: impl Into<String>) -> EngineFailure {
    EngineFailure::asker("usage", message)
}

/// The failure of an edit in words. `known` are the servers that there are.
pub(crate) fn edit_failure(error: &EditError, known: &[String]) -> EngineFailure {
    let message = error.to_string();
    match error {
        EditError::Unknown(name) => unknown_server(name.as_str(), known.iter().map(String::as_str)),
        EditError::Exists(name) => exists(name.as_str()),
        EditError::Unsound(_, report) => {
            let reasons = config_errors(report);
            EngineFailure::asker("config", format!("{message}\n{}", reasons.join("\n")))
        }
        EditError::Rejected(name, report) => {
            // Lines of a file that was not written would lead nowhere.
            let reasons = report
                .errors()
                .filter(|problem| problem.server() == Some(name.as_str()))
                .map(|problem| {
                    let help = problem.help_text().map(|help| format!(": {help}"));
                    let help = help.unwrap_or_default();
                    format!("\n{}: {}{help}", problem.path(), problem.message())
                });
            let reasons: String = reasons.collect();
            EngineFailure::asker("config", format!("{message}{reasons}"))
        }
        EditError::NotText(_) | EditError::Elsewhere { .. } | EditError::TooStrange(_) => {
            EngineFailure::asker("config", message)
        }
        EditError::Read(_)
        | EditError::Concurrent(_)
        | EditError::Lock(_)
        | EditError::State(_)
        | EditError::Directory { .. }
        | EditError::Write(_) => EngineFailure::operation("config-write", message),
    }
}
