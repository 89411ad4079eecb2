//! A reader of media with a state directory of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use openclaw_config::{Config, Environment, Location, load};
use openclaw_media::{DocumentProgram, MediaReader, MediaSetup};
use openclaw_process::{GuardianProgram, Launcher};
use openclaw_secret_stores::{SecretResolver, Surroundings};
use openclaw_secrets::Redactor;
use openclaw_state::StateDirectory;
use serde_json::{Value, json};

pub(crate) const SOON: Duration = Duration::from_secs(10);

/// How many processes of a kind work at once.
pub(crate) fn seats() -> usize {
    std::thread::available_parallelism().unwrap().get().min(4)
}

pub(crate) struct House {
    directory: tempfile::TempDir,
    pub(crate) media: MediaReader,
    pub(crate) redactor: Redactor,
    launcher: Arc<Launcher>,
}

impl House {
    /// One whose recordings are transcribed like this.
    pub(crate) fn new(transcription: &Value, variables: &[(&str, &str)]) -> Self {
        Self::at(tempfile::tempdir().unwrap(), transcription, variables)
    }

    /// One in a directory, in which something may be already.
    pub(crate) fn at(
        directory: tempfile::TempDir,
        transcription: &Value,
        variables: &[(&str, &str)],
    ) -> Self {
        let config = if transcription.is_null() {
            json!({})
        } else {
            json!({ "media": { "transcription": transcription } })
        };
        let state = StateDirectory::open(&directory.path().join("state")).unwrap();
        let host = Path::new(env!("CARGO_BIN_EXE_media-host"));
        let launcher = Arc::new(Launcher::new(GuardianProgram::at(host)));
        let redactor = Redactor::new();
        let config = Arc::new(read(directory.path(), &config, variables));
        let media = MediaReader::new(MediaSetup {
            resolver: resolver(&config, &launcher, &redactor),
            config,
            redactor: redactor.clone(),
            state,
            launcher: Arc::clone(&launcher),
            documents: DocumentProgram::at(host),
            environment: std::env::vars_os().collect(),
        });
        Self {
            directory,
            media,
            redactor,
            launcher,
        }
    }

    /// Goes over to another configuration.
    pub(crate) fn renew(&self, transcription: &Value) {
        let config = json!({ "media": { "transcription": transcription } });
        let config = read(self.directory.path(), &config, &[]);
        let resolver = resolver(&config, &self.launcher, &self.redactor);
        self.media.renew(&config, resolver);
    }

    /// The places of recordings that are there.
    pub(crate) fn scratches(&self) -> Vec<PathBuf> {
        let place = self.directory.path().join("state/transcription");
        let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        paths.filter(|path| path.is_dir()).collect()
    }
}

fn read(directory: &Path, config: &Value, variables: &[(&str, &str)]) -> Config {
    let location = Location {
        config: directory.join("openclaw.json"),
        state: directory.join("state"),
        profile: None,
        named: true,
    };
    std::fs::write(&location.config, config.to_string()).unwrap();
    let mut environment = Environment::new([], Some(directory), directory);
    for (name, value) in variables {
        environment = environment.with(name, value);
    }
    let loaded = load(&location, &environment);
    let report = loaded.report.render(false);
    loaded.config.unwrap_or_else(|| panic!("{report}"))
}

fn resolver(config: &Config, launcher: &Arc<Launcher>, redactor: &Redactor) -> Arc<SecretResolver> {
    Arc::new(SecretResolver::new(Surroundings {
        environment: Arc::clone(&config.environment),
        launcher: Arc::clone(launcher),
        redactor: redactor.clone(),
    }))
}
