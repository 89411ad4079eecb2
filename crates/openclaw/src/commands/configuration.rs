//! The configuration, for commands that can't do without it.

use openclaw_config::{Agent, AgentId, Config, Kind, Report};
use openclaw_definitions::unusable;

use crate::commands::Session;
use crate::failure::Failure;
use crate::logging::FILE_ONLY;

/// The configuration; a file that can't be used is a failure with all its errors.
pub(super) fn usable_config(session: &Session<'_>) -> Result<Config, Failure> {
    let loaded = session.definitions()?.load();
    log_plaintext(&loaded.report);
    Ok(loaded.config.ok_or_else(|| unusable(&loaded.report))?)
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

/// The agent of this name, or the default one.
pub(super) fn find_agent<'c>(config: &'c Config, id: Option<&str>) -> Result<&'c Agent, Failure> {
    let id = id.unwrap_or(config.default_agent.as_str());
    config.agents.get(id).ok_or_else(|| {
        let known: Vec<&str> = config.agents.keys().map(AgentId::as_str).collect();
        Failure::usage("unknown-agent", format!("there is no agent {id:?}"))
            .hint(format!("the agents are: {}", known.join(", ")))
    })
}
