//! A directory with a configuration, and what loading it gives.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_config::{
    Agent, Config, ConfiguredServer, Definition, Environment, Loaded, Location, Server, load,
};

pub(crate) struct Fixture {
    directory: tempfile::TempDir,
    variables: Vec<(&'static str, &'static str)>,
}

impl Fixture {
    /// A configuration with this text.
    pub(crate) fn new(text: &str) -> Self {
        let fixture = Self::empty();
        fixture.write("openclaw.json", text);
        fixture
    }

    pub(crate) fn empty() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        }
    }

    pub(crate) fn variable(mut self, name: &'static str, value: &'static str) -> Self {
        self.variables.push((name, value));
        self
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn text(&self) -> String {
        fs::read_to_string(self.location().config).unwrap()
    }

    pub(crate) fn location(&self) -> Location {
        Location {
            config: self.path().join("openclaw.json"),
            state: self.path().join("state"),
            profile: None,
            named: true,
        }
    }

    pub(crate) fn environment(&self) -> Environment {
        let mut environment = Environment::new(
            [],
            Some(&self.path().join("home")),
            &self.path().join("work"),
        );
        for (name, value) in &self.variables {
            environment = environment.with(name, value);
        }
        environment
    }

    pub(crate) fn load(&self) -> Loaded {
        load(&self.location(), &self.environment())
    }

    /// The configuration, of which nothing is wrong but what is a server's own.
    pub(crate) fn config(&self) -> Config {
        let loaded = self.load();
        let rendered = self.rendered(&loaded);
        loaded.config.unwrap_or_else(|| panic!("{rendered}"))
    }

    /// All problems as a person sees them, the directory's name left out.
    pub(crate) fn rendered(&self, loaded: &Loaded) -> String {
        let text = loaded.report.render(false);
        let real = fs::canonicalize(self.path()).unwrap();
        text.replace(&real.display().to_string(), "DIR")
            .replace(&self.path().display().to_string(), "DIR")
    }

    /// All problems as `path: message`.
    pub(crate) fn problems(&self) -> Vec<String> {
        let loaded = self.load();
        loaded
            .report
            .problems()
            .iter()
            .map(|problem| format!("{}: {}", problem.path(), problem.message()))
            .collect()
    }
}

/// The configuration as `config show` prints it.
pub(crate) fn shown(config: &Config, id: &str) -> serde_json::Value {
    let redactor = openclaw_secrets::Redactor::new();
    for secret in config.credentials() {
        let _ = redactor.learn(&secret);
    }
    config.show(agent(config, id), &redactor)
}

/// The names of an agent's servers.
pub(crate) fn names(config: &Config, id: &str) -> Vec<String> {
    let servers = agent(config, id).servers.iter();
    servers.map(|server| server.name.to_string()).collect()
}

/// Loads a text and returns its configuration.
pub(crate) fn config(text: &str) -> Config {
    Fixture::new(text).config()
}

pub(crate) fn agent<'c>(config: &'c Config, id: &str) -> &'c Agent {
    config.agents.get(id).expect("the agent is there")
}

pub(crate) fn configured<'c>(
    config: &'c Config,
    agent_id: &str,
    name: &str,
) -> &'c ConfiguredServer {
    agent(config, agent_id)
        .servers
        .get(name)
        .expect("the server is there")
}

/// A server that can be used.
pub(crate) fn server(config: &Config, agent_id: &str, name: &str) -> Arc<Server> {
    match &configured(config, agent_id, name).definition {
        Definition::Sound(server) => Arc::clone(server),
        Definition::Broken(reasons) => panic!("{reasons:?}"),
    }
}
