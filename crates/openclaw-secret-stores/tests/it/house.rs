//! A resolver on a machine that a test makes up.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use openclaw_config::{Environment, SecretSettings};
use openclaw_process::{GuardianProgram, Launcher};
use openclaw_secret_stores::{Resolved, SecretError, SecretResolver, Surroundings};
use openclaw_secrets::{Redactor, SecretReference};

/// The program that tests start.
pub(crate) fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    profile.join("examples/secret_program")
}

/// A machine with a home directory and a few variables, and a resolver on it.
pub(crate) struct House {
    pub(crate) home: tempfile::TempDir,
    pub(crate) redactor: Redactor,
    pub(crate) settings: SecretSettings,
    resolver: SecretResolver,
}

impl House {
    pub(crate) fn new(variables: &[(&str, &str)]) -> Self {
        Self::at(tempfile::tempdir().unwrap(), variables)
    }

    /// A machine with this home directory.
    pub(crate) fn at(home: tempfile::TempDir, variables: &[(&str, &str)]) -> Self {
        let mut environment = Environment::new([], Some(home.path()), home.path());
        for (name, value) in variables {
            environment = environment.with(name, value);
        }
        Self::of(home, environment)
    }

    /// A machine with this environment.
    pub(crate) fn of(home: tempfile::TempDir, environment: Environment) -> Self {
        let redactor = Redactor::new();
        let resolver = SecretResolver::new(Surroundings {
            environment: Arc::new(environment),
            launcher: Arc::new(Launcher::new(GuardianProgram::at(&program()))),
            redactor: redactor.clone(),
        });
        Self {
            home,
            redactor,
            settings: SecretSettings {
                providers: [].into(),
                timeout: Duration::from_secs(10),
            },
            resolver,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.home.path()
    }

    /// What a reference leads to.
    pub(crate) async fn get(&self, reference: &str) -> Result<String, SecretError> {
        let resolved = self.resolve(&[reference]).await.remove(0);
        resolved.map(|resolved| resolved.value.expose().to_owned())
    }

    pub(crate) async fn resolve(&self, references: &[&str]) -> Vec<Result<Resolved, SecretError>> {
        let references = references.iter();
        let references: Vec<SecretReference> = references.map(|it| it.parse().unwrap()).collect();
        self.resolver.resolve(&self.settings, &references).await
    }
}
