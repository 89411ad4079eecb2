//! A machine with files of other clients, and what importing from it gives.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use openclaw_config::{Environment, Location, load};
use openclaw_import::{Found, ImportedServer, Platform, Source, Surroundings, Variables, find};
use serde_json::{Map, Value, json};

pub(crate) struct Machine {
    directory: tempfile::TempDir,
    platform: Platform,
    set: &'static [&'static str],
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self::with_platform(Platform::Linux)
    }

    pub(crate) fn with_platform(platform: Platform) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["home", "project", "roaming"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        Self {
            directory,
            platform,
            set: &[],
        }
    }

    /// Sets variables, whatever their values.
    pub(crate) fn set(mut self, names: &'static [&'static str]) -> Self {
        self.set = names;
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file; `PROJECT` in a text becomes the directory of the project.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let project = self.path("project");
        let content = match std::str::from_utf8(content.as_ref()) {
            Ok(text) => text
                .replace("PROJECT", project.to_str().unwrap())
                .into_bytes(),
            Err(_) => content.as_ref().to_owned(),
        };
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn surroundings(&self) -> Surroundings {
        let set = self.set;
        Surroundings {
            platform: self.platform,
            home: self.path("home"),
            directory: self.path("project"),
            config_home: None,
            app_data: Some(self.path("roaming")),
            codex_home: None,
            claude_config: None,
            variables: Variables::new(move |name| {
                set.contains(&name).then(|| OsString::from("value"))
            }),
        }
    }

    /// Imports, and holds everything that comes out against our own configuration.
    pub(crate) fn find(&self, source: &str) -> Vec<Found> {
        let source = match source {
            "all" => Source::All,
            name => name.parse().unwrap(),
        };
        let found = find(&source, &self.surroundings());
        for server in found.iter().flat_map(|found| &found.servers) {
            assert_accepted(server);
        }
        found
    }

    /// All that was found, as text, without what differs from run to run.
    pub(crate) fn shown(&self, source: &str) -> String {
        let mut text = String::new();
        for found in self.find(source) {
            text.push_str(&format!("{}: {}\n", found.client, found.path.display()));
            for problem in found.problems {
                text.push_str(&format!("  problem: {problem}\n"));
            }
            for server in found.servers {
                let entry = serde_json::to_string_pretty(&server.entry).unwrap();
                text.push_str(&format!("{}: {entry}\n", server.name));
                for note in server.notes {
                    text.push_str(&format!("  note: {note}\n"));
                }
            }
            text.push('\n');
        }
        self.without_directory(&text)
    }

    pub(crate) fn without_directory(&self, text: &str) -> String {
        text.replace(self.directory.path().to_str().unwrap(), "")
    }

    /// The only problem that there is.
    pub(crate) fn problem(&self, source: &str) -> String {
        let found = self.find(source);
        let [found] = found.as_slice() else {
            panic!("{found:?}");
        };
        let [problem] = found.problems.as_slice() else {
            panic!("{found:?}");
        };
        self.without_directory(problem)
    }
}

/// Fails where our configuration does not take an entry, or does not know one of its fields.
pub(crate) fn assert_accepted(server: &ImportedServer) {
    let directory = tempfile::tempdir().unwrap();
    let problems = problems(directory.path(), server);
    assert!(problems.is_empty(), "{server:?}: {problems:#?}");
}

fn problems(directory: &Path, server: &ImportedServer) -> Vec<String> {
    let mut servers = Map::new();
    servers.insert(server.name.clone(), Value::Object(server.entry.clone()));
    let document = json!({ "mcp": { "servers": servers } });
    let config = directory.join("openclaw.json");
    fs::write(&config, document.to_string()).unwrap();
    let location = Location {
        config,
        state: directory.join("state"),
        profile: None,
        named: true,
    };
    let environment = Environment::new([], Some(directory), directory);
    let loaded = load(&location, &environment);
    let mistakes = loaded.report.problems().iter().filter(|problem| {
        problem.severity() == openclaw_config::Severity::Error
            || problem.kind() == openclaw_config::Kind::UnknownKey
            || problem.message().contains("has no effect")
    });
    let mut problems: Vec<String> = mistakes
        .map(|problem| format!("{}: {}", problem.path(), problem.message()))
        .collect();
    let known = loaded.config.is_some_and(|config| {
        let agent = config.agents.get("main").unwrap();
        agent.servers.get(server.name.as_str()).is_some()
    });
    if !known {
        problems.push("the server is not there".to_owned());
    }
    problems
}
