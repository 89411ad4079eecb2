//! Where definitions are: read, shown, written, deleted.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_config::{
    Agent, Config, EditError, Editor, Environment, Loaded, Location, ServerEdit, ServerName, load,
};
use openclaw_engine::{DefinitionsReport, EngineFailure, StoredCredential};
use openclaw_secrets::Redactor;
use openclaw_state::{ReadError, StateDirectory, read_bounded};
use serde_json::{Map, Value as Json};
use tracing::Span;

use crate::credentials::{OwnEntry, Owner};
use crate::failure::{config_errors, edit_failure, unknown_server, unusable};
use crate::keeping::Keeper;
use crate::trial;
use crate::typed::NewServer;

/// How large a configuration may be.
const LARGEST: u64 = 8_000_000;

/// The definitions of the servers of a configuration, where they are written.
#[derive(Clone)]
pub struct Definitions {
    place: Arc<Place>,
}

struct Place {
    location: Location,
    environment: Environment,
    redactor: Redactor,
    files: Mutex<Files>,
    /// Whether the file was there at any time.
    was_there: AtomicBool,
}

/// The files that count.
#[derive(Default)]
struct Files {
    /// Those of the last configuration that could be used.
    good: BTreeSet<PathBuf>,
    /// Those that were read after that, and could not be used.
    since: BTreeSet<PathBuf>,
}

impl Files {
    /// Takes note of a reading.
    fn note(&mut self, loaded: &Loaded) {
        let read = loaded.files.iter().cloned().collect();
        if loaded.config.is_some() {
            self.good = read;
            self.since.clear();
        } else {
            self.since = read;
        }
    }

    fn all(&self) -> Vec<PathBuf> {
        self.good.union(&self.since).cloned().collect()
    }
}

impl fmt::Debug for Definitions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = &self.place.location.config;
        formatter.debug_tuple("Definitions").field(file).finish()
    }
}

/// A definition that is written, or deleted.
#[derive(Debug, Default)]
pub struct Written {
    /// The file.
    pub config: String,
    /// Its credentials that the keyring has.
    pub stored: Vec<StoredCredential>,
    /// What a person should know: a sentence each.
    pub warnings: Vec<String>,
    /// What the server in whose place it is had in the keyring.
    pub leftovers: Leftovers,
}

/// Entries of the keyring that perhaps nothing refers to any longer.
#[derive(Debug, Default)]
pub struct Leftovers(pub(crate) Vec<OwnEntry>);

impl Leftovers {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Definitions {
    /// The definitions of the configuration at a location. Their credentials become known to the
    /// redactor.
    pub fn new(location: Location, environment: Environment, redactor: Redactor) -> Self {
        let was_there = AtomicBool::new(location.config.exists());
        Self {
            place: Arc::new(Place {
                location,
                environment,
                redactor,
                files: Mutex::default(),
                was_there,
            }),
        }
    }

    /// The files that apply.
    pub fn location(&self) -> &Location {
        &self.place.location
    }

    /// The files that the configuration was last read from, and those that would have been read if they
    /// were there. Where it could not be used, those of the one before it count as well: a file that is
    /// broken does not say what it includes. One that was never read is read for it, as by
    /// [`Definitions::load`].
    pub fn files(&self) -> Vec<PathBuf> {
        let known = self.last_files().all();
        if known.is_empty() {
            return self.load().files;
        }
        known
    }

    fn was_there(&self) -> bool {
        self.place.was_there.load(Ordering::Relaxed)
    }

    fn last_files(&self) -> MutexGuard<'_, Files> {
        let files = self.place.files.lock();
        files.unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.place.environment
    }

    pub(crate) fn redactor(&self) -> &Redactor {
        &self.place.redactor
    }

    /// Reads the configuration, with everything that is wrong with it. Files are read meanwhile: in
    /// asynchronous code this is for threads that may wait.
    pub fn load(&self) -> Loaded {
        let is_there = self.location().config.exists();
        self.place.was_there.fetch_or(is_there, Ordering::Relaxed);
        let loaded = load(self.location(), self.environment());
        self.learn(&loaded);
        self.last_files().note(&loaded);
        loaded
    }

    /// Reads the configuration; a file that can't be used is a failure with all its errors.
    pub async fn usable(&self) -> Result<Config, EngineFailure> {
        self.elsewhere(|it| {
            let loaded = it.load();
            loaded.config.ok_or_else(|| unusable(&loaded.report))
        })
        .await?
    }

    /// Makes sure that no output shows a credential of a configuration.
    pub(crate) fn learn(&self, loaded: &Loaded) {
        let own = loaded.config.as_ref().map(Config::credentials);
        for secret in own.iter().flatten().chain(&loaded.credentials) {
            // What is too short or too common to be told apart stays readable.
            let _ = self.redactor().learn(secret);
        }
    }

    /// Reads a configuration that was in force before, with what is wrong with parts of it: a sentence
    /// each. Files are read meanwhile, as by [`Definitions::load`].
    ///
    /// A file that is gone or empty is a failure as well: it is about to be written, or was lost, and
    /// nobody wants everything to stop for that. One that was never there can't be gone: defaults hold
    /// without it, with what other files say.
    pub fn reread(&self) -> Result<(Config, Vec<String>), EngineFailure> {
        let path = &self.location().config;
        let trouble = match read_bounded(path, LARGEST) {
            Err(ReadError::Missing(_)) if self.was_there() => Some("is not there"),
            Ok(text) if text.iter().all(u8::is_ascii_whitespace) => Some("is empty"),
            // What else is wrong with it is said by whoever reads it.
            Ok(_) | Err(_) => None,
        };
        if let Some(trouble) = trouble {
            let message = format!("{} {trouble}: nothing was changed", path.display());
            return Err(EngineFailure::asker("config", message));
        }
        let loaded = self.load();
        let config = loaded.config.ok_or_else(|| unusable(&loaded.report))?;
        Ok((config, config_errors(&loaded.report)))
    }

    /// Writes a definition as it is, whether or not there is one of this name.
    pub async fn set(&self, server: &NewServer) -> Result<Written, EngineFailure> {
        let written = self.write(server, true).await?;
        let name = server.name.clone();
        self.elsewhere(move |it| {
            let loaded = it.load();
            let warnings = loaded.report.warnings();
            let own = warnings.filter(|problem| problem.server() == Some(name.as_str()));
            Written {
                warnings: own.map(|it| trial::words(it, name.as_str())).collect(),
                ..written
            }
        })
        .await
    }

    /// Writes a definition as it is. One that is there already is an error unless it may be replaced.
    pub async fn write(&self, server: &NewServer, replace: bool) -> Result<Written, EngineFailure> {
        let (name, definition) = (server.name.clone(), server.entry.0.clone());
        self.elsewhere(move |it| {
            let add = ServerEdit::Add(name.clone(), definition.clone());
            match it.edit(&add) {
                Err(EditFailure::Edit(EditError::Exists(_))) if replace => {
                    it.edit(&ServerEdit::Change(name, definition))
                }
                other => other,
            }
            .map_err(|failure| failure.told(&[]))
        })
        .await?
    }

    /// Deletes a definition. `known` is the configuration that has it.
    pub async fn remove(
        &self,
        name: &ServerName,
        known: &Config,
    ) -> Result<Written, EngineFailure> {
        let mut names: Vec<String> = known.servers().map(|it| it.name.to_string()).collect();
        names.sort_unstable();
        names.dedup();
        let edit = ServerEdit::Remove(name.clone());
        self.elsewhere(move |it| it.edit(&edit).map_err(|failure| failure.told(&names)))
            .await?
    }

    /// The keyring, for credentials of this configuration. It is not asked for anything yet.
    pub fn keeper(&self) -> Keeper {
        Keeper::new(self.clone())
    }

    /// The directory for what outlives this process, made where it is missing.
    pub(crate) fn state(&self) -> Result<StateDirectory, EngineFailure> {
        StateDirectory::open(&self.location().state)
            .map_err(|error| EngineFailure::operation("state", error.to_string()))
    }

    /// Changes the configuration.
    fn edit(&self, edit: &ServerEdit) -> Result<Written, EditFailure> {
        let (location, environment) = (self.location(), self.environment());
        let state = self.state().map_err(EditFailure::Other)?;
        let editor = Editor::open(location, environment, &state)?;
        // What is replaced is what stands there now that nobody else can change it.
        let before = editor.server(edit.name()).unwrap_or_default();
        editor.apply(edit)?;
        Ok(Written {
            config: location.config.display().to_string(),
            leftovers: Leftovers(Owner::of(location).entries_in(&before)),
            ..Written::default()
        })
    }

    /// Does something on a thread that may wait for disks and locks.
    pub(crate) async fn elsewhere<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, EngineFailure> {
        let (this, span) = (self.clone(), Span::current());
        let done = tokio::task::spawn_blocking(move || span.in_scope(|| work(&this)));
        done.await.map_err(|error| {
            EngineFailure::operation("system", format!("it was not done: {error}"))
        })
    }
}

/// The definitions of an agent's servers, or of one of them, credentials hidden.
pub fn shown(
    config: &Config,
    agent: &Agent,
    server: Option<&str>,
    redactor: &Redactor,
) -> Result<DefinitionsReport, EngineFailure> {
    let mut shown = config.show(agent, redactor);
    let mut servers = match shown["mcp"]["servers"].take() {
        Json::Object(servers) => servers,
        _ => Map::new(),
    };
    if let Some(name) = server {
        let known = agent.servers.iter().map(|server| server.name.as_str());
        let one = servers.remove(name);
        let one = one.ok_or_else(|| unknown_server(name, known))?;
        servers = Map::from_iter([(name.to_owned(), one)]);
    }
    Ok(DefinitionsReport { servers })
}

/// Why the file was not changed.
enum EditFailure {
    Edit(EditError),
    Other(EngineFailure),
}

impl From<EditError> for EditFailure {
    fn from(error: EditError) -> Self {
        Self::Edit(error)
    }
}

impl EditFailure {
    fn told(self, known: &[String]) -> EngineFailure {
        match self {
            Self::Edit(error) => edit_failure(&error, known),
            Self::Other(failure) => failure,
        }
    }
}
