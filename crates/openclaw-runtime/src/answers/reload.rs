//! The configuration, read anew.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use openclaw_config::{Config, Difference, difference};
use openclaw_definitions::Definitions;
use openclaw_engine::{EngineFailure, ReloadReport};
use openclaw_mcp::Servers;
use openclaw_media::MediaReader;
use openclaw_models::Models;
use openclaw_state::{StateDirectory, StateKey};
use tracing::Span;

use crate::runtime::Runtime;

impl Runtime {
    pub(super) async fn answer_reload(&self) -> Result<ReloadReport, EngineFailure> {
        let reload = Reload {
            alone: Arc::clone(&self.reloading),
            definitions: self.written_definitions()?.clone(),
            state: self.state.clone(),
            servers: Arc::clone(&self.servers),
            models: Arc::clone(&self.models),
            media: Arc::clone(&self.media),
        };
        let span = Span::current();
        // It waits for disks. Whoever asked may be gone: it is done whole or not at all.
        let done = tokio::task::spawn_blocking(move || span.in_scope(|| reload.run()));
        let done = done.await.map_err(|error| {
            EngineFailure::operation("system", format!("it was not done: {error}"))
        });
        let mut report = done?.map_err(|failure| self.without_secrets(failure))?;
        for warning in &mut report.warnings {
            *warning = self.redactor.redact(warning).into_owned();
        }
        Ok(report)
    }
}

/// One reading of the configuration, and everything that goes over to it.
struct Reload {
    alone: Arc<Mutex<()>>,
    definitions: Definitions,
    state: StateDirectory,
    servers: Arc<Servers>,
    models: Arc<Models>,
    media: Arc<MediaReader>,
}

impl Reload {
    fn run(self) -> Result<ReloadReport, EngineFailure> {
        // What was read first must not come into force last.
        let _alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        let (config, warnings) = self.definitions.reread()?;
        let config = Arc::new(config);
        let key = StateKey::of(&self.state)
            .map_err(|error| EngineFailure::operation("state", error.to_string()))?;
        let before = self.servers.config();
        let changes = difference(&before, &config, &key);
        self.servers.reload(Arc::clone(&config));
        let resolver = self.servers.secret_resolver();
        self.media.renew(&config, Arc::clone(&resolver));
        self.models.renew(Arc::clone(&config), resolver);
        Ok(ReloadReport {
            warnings,
            ..report(&before, &config, &changes)
        })
    }
}

/// Which servers changed, by name: whichever agents have them.
fn report(before: &Config, after: &Config, difference: &Difference) -> ReloadReport {
    let had: BTreeSet<&str> = before.servers().map(|it| it.name.as_str()).collect();
    let has: BTreeSet<&str> = after.servers().map(|it| it.name.as_str()).collect();
    let touched = difference.changes.keys();
    let touched: BTreeSet<&str> = touched.map(|(_, name)| name.as_str()).collect();
    let mut report = ReloadReport::default();
    for name in touched {
        let list = match (had.contains(name), has.contains(name)) {
            (false, _) => &mut report.added,
            (true, false) => &mut report.removed,
            (true, true) => &mut report.changed,
        };
        list.push(name.to_owned());
    }
    report
}
