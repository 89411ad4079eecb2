//! Servers that were written to the configuration.

use openclaw_content::shown_line;
use openclaw_engine::{AddedServer, AuthKind, ServerDetails, ShownState};

use crate::{LINE, count, name, stored};

/// How a new server is and where it was written, with the credentials that the keyring has now.
pub fn added(report: &AddedServer) -> String {
    let (server, config) = (name(&report.name), shown_line(&report.config, LINE));
    let state = state(report.server.as_ref());
    let stored = stored(&report.stored);
    format!("{server}: {state}; written to {config}\n{stored}")
}

fn state(tried: Option<&ServerDetails>) -> String {
    let Some(tried) = tried else {
        return "not tried".to_owned();
    };
    match (tried.report.state, tried.report.auth) {
        (ShownState::NeedsAuth, AuthKind::Oauth) => "needs a login".to_owned(),
        (ShownState::NeedsAuth, _) => "the server does not take the credentials".to_owned(),
        _ => format!("connected, {}", count(tried.report.tools, "tool")),
    }
}
