//! `/mcp connect`

use std::time::SystemTime;

use openclaw_definitions::{Typed, Wanted, wanted};
use openclaw_engine::{AddServer, AddedServer, AuthKind, EngineFailure, ReplyEvent, ShownState};
use openclaw_render as render;

use super::options::{ConnectLine, Hidden};
use super::{McpAsked, PAGE, remarks};
use crate::words::quoted;

impl McpAsked<'_> {
    /// Connects a server of the configuration again, or tries a new one and writes it there.
    pub(super) async fn connect(&self, line: &ConnectLine) -> Result<String, EngineFailure> {
        let server = match wanted(&line.typed())? {
            Wanted::Configured(name) => {
                let details = self.engine.connect(self.one(name)).await?;
                return Ok(render::details(&details, SystemTime::now(), PAGE));
            }
            Wanted::New(server) => server,
        };
        let added = self.engine.add_server(AddServer {
            name: server.name.to_string(),
            entry: server.entry,
            check: !line.no_check,
            replace: line.force,
            keyring: !line.no_keyring,
        });
        let added = added.await?;
        let text = told(&added);
        if !needs_login(&added) {
            return Ok(text);
        }
        let command = format!("/mcp auth {}", quoted(&added.name));
        if !self.audience.can_answer() {
            return Ok(format!("{text}Log in with: {command}\n"));
        }
        for line in text.lines() {
            let text = line.to_owned();
            self.audience.hear(ReplyEvent::Notice { text });
        }
        // It is written, whatever becomes of the login.
        match self.login(added.name.clone(), None).await {
            Ok(logged_in) => Ok(logged_in),
            Err(failure) => Err(EngineFailure {
                message: format!("not logged in: {}", failure.message),
                hint: Some(format!("the server is written; log in with `{command}`")),
                ..failure
            }),
        }
    }
}

impl ConnectLine {
    fn typed(&self) -> Typed {
        Typed {
            target: self.target.clone().map(|it| it.0),
            program: shown(&self.program),
            name: self.name.clone(),
            headers: shown(&self.headers),
            variables: shown(&self.variables),
            transport: self.transport.as_deref().and_then(|it| it.parse().ok()),
            no_check: self.no_check,
            force: self.force,
            no_keyring: self.no_keyring,
            ..Typed::default()
        }
    }
}

fn shown(words: &[Hidden]) -> Vec<String> {
    words.iter().map(|word| word.0.clone()).collect()
}

fn needs_login(added: &AddedServer) -> bool {
    added.server.as_ref().is_some_and(|details| {
        let report = &details.report;
        report.state == ShownState::NeedsAuth && report.auth == AuthKind::Oauth
    })
}

/// What became of a new server.
fn told(added: &AddedServer) -> String {
    render::added(added) + &render::forgotten(&added.deleted) + &remarks(&added.warnings)
}
