//! The configuration, read anew.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use openclaw_config::{Config, Difference, difference};
use openclaw_definitions::Definitions;
use openclaw_engine::{EngineFailure, ReloadReport};
use openclaw_mcp::Servers;
use openclaw_media::MediaReader;
use openclaw_models::Models;
use openclaw_secrets::Redactor;
use openclaw_state::{StateDirectory, StateKey};

use super::definitions::without_secrets;
use crate::lasting::{self, Lasting};
use crate::observer::Observer;
use crate::runtime::Runtime;

impl Runtime {
    pub(super) async fn answer_reload(&self) -> Result<ReloadReport, EngineFailure> {
        let reload = Reload {
            definitions: self.written_definitions()?.clone(),
            state: self.state.clone(),
            servers: Arc::clone(&self.servers),
            models: Arc::clone(&self.models),
            media: Arc::clone(&self.media),
            observer: Arc::clone(&self.observer),
            config_error: Arc::clone(&self.config_error),
            lasting: self.lasting.clone(),
            redactor: self.redactor.clone(),
        };
        self.reloads.ask(move || reload.run()).await
    }
}

/// One reading of the configuration, and everything that goes over to it.
struct Reload {
    definitions: Definitions,
    state: StateDirectory,
    servers: Arc<Servers>,
    models: Arc<Models>,
    media: Arc<MediaReader>,
    observer: Arc<Observer>,
    config_error: Arc<Mutex<Option<String>>>,
    lasting: Option<Arc<Lasting>>,
    redactor: Redactor,
}

impl Reload {
    /// Reads and goes over, and notes what came of it.
    fn run(self) -> Result<ReloadReport, EngineFailure> {
        let hidden = |text: &str| self.redactor.redact(text).into_owned();
        let done = match self.go_over() {
            Ok(report) => Ok(ReloadReport {
                warnings: report.warnings.iter().map(|it| hidden(it)).collect(),
                ..report
            }),
            Err(failure) => Err(without_secrets(failure, &self.redactor)),
        };
        let error = done.as_ref().err().map(|failure| failure.message.clone());
        *self
            .config_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = error;
        self.observer.reloaded(&done);
        done
    }

    fn go_over(&self) -> Result<ReloadReport, EngineFailure> {
        let (config, mut warnings) = self.definitions.reread()?;
        let unlike = self.lasting.as_ref().map(|it| it.unlike(&config));
        warnings.extend(unlike.into_iter().flatten().map(lasting::told));
        let config = Arc::new(config);
        let key = StateKey::of(&self.state)
            .map_err(|error| EngineFailure::operation("state", error.to_string()))?;
        let before = self.servers.config();
        let changes = difference(&before, &config, &key);
        // Before what is new can do anything that counts.
        self.observer.go_over(&config);
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
