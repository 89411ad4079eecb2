//! The configuration, for commands that can't do without it.

use openclaw_config::{Agent, AgentId, Config, Kind, Report, load};

use crate::commands::Session;
use crate::failure::Failure;
use crate::logging::FILE_ONLY;

/// The configuration; a file that can't be used is a failure with all its errors.
pub(super) fn usable_config(session: &Session<'_>) -> Result<Config, Failure> {
    let location = session.location()?;
    let loaded = load(&location, &session.environment);
    session.learn(&loaded);
    log_plaintext(&loaded.report);
    loaded.config.ok_or_else(|| unusable(&loaded.report))
}

/// Notes which servers have credentials in the file itself. Who looks at the terminal has asked for
/// something else: `config validate` and `doctor` say it there.
fn log_plaintext(report: &Report) {
    let warnings = report.warnings();
    for warning in warnings.filter(|it| it.kind() == Kind::PlaintextCredential) {
        let message = warning.message();
        tracing::warn!(target: FILE_ONLY, server = warning.server(), "{message}");
    }
}

/// The failure that tells all errors of a configuration.
pub(super) fn unusable(report: &Report) -> Failure {
    Failure::usage("config", errors(report).join("\n"))
        .hint("run `openclaw config validate` for the details")
}

/// The errors of a configuration, a sentence each.
pub(super) fn errors(report: &Report) -> Vec<String> {
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

/// The agent of this name, or the default one.
pub(super) fn find_agent<'c>(config: &'c Config, id: Option<&str>) -> Result<&'c Agent, Failure> {
    let id = id.unwrap_or(config.default_agent.as_str());
    config.agents.get(id).ok_or_else(|| {
        let known: Vec<&str> = config.agents.keys().map(AgentId::as_str).collect();
        Failure::usage("unknown-agent", format!("there is no agent {id:?}"))
            .hint(format!("the agents are: {}", known.join(", ")))
    })
}

/// The failure of naming a server that no agent has.
pub(super) fn unknown_server<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Failure {
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    known.dedup();
    let failure = Failure::usage("unknown-server", format!("there is no server {name:?}"));
    if known.is_empty() {
        failure.hint("no MCP servers are configured; add one with `openclaw mcp connect`")
    } else {
        failure.hint(format!("the servers are: {}", known.join(", ")))
    }
}
