//! A machine with skills: a workspace, a home, a state directory and a configuration.

use std::fs;
use std::path::{Path, PathBuf};

use openclaw_config::{Config, Environment, Location, load};
use openclaw_skills::{Setup, Skill, Skills, Standing};

/// The commands that are there without any skill.
const COMMANDS: [&str; 3] = ["mcp", "new", "skill"];

pub(crate) struct Fixture {
    directory: tempfile::TempDir,
    config: String,
    variables: Vec<(&'static str, String)>,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let fixture = Self {
            directory: tempfile::tempdir().unwrap(),
            config: String::new(),
            variables: Vec::new(),
        };
        for name in ["work", "home", "state"] {
            fs::create_dir(fixture.path(name)).unwrap();
        }
        fixture
    }

    /// With members of the configuration beside the agent and its workspace.
    pub(crate) fn config(mut self, members: &str) -> Self {
        members.clone_into(&mut self.config);
        self
    }

    pub(crate) fn variable(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// A path, without any link on the way.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes a skill of which nothing is wrong, with these fields beside its description.
    pub(crate) fn skill(&self, directory: &str, fields: &str) -> PathBuf {
        let text = format!("---\ndescription: does {directory}\n{fields}\n---\nDo it well.\n");
        self.write(&format!("{directory}/SKILL.md"), text)
    }

    pub(crate) fn loaded(&self) -> Config {
        let workspace = self.path("work");
        let text = format!(
            "{{ agents: {{ list: [{{ id: 'main', workspace: {workspace:?} }}] }}, {} }}",
            self.config
        );
        self.write("openclaw.json", text);
        let location = Location {
            config: self.path("openclaw.json"),
            state: self.path("state"),
            profile: None,
            named: true,
        };
        let home = self.path("home");
        let mut environment = Environment::new([], Some(&home), Path::new("/"));
        for (name, value) in &self.variables {
            environment = environment.with(name, value);
        }
        let loaded = load(&location, &environment);
        let rendered = loaded.report.render(false);
        loaded.config.unwrap_or_else(|| panic!("{rendered}"))
    }

    pub(crate) fn find(&self) -> Skills {
        let config = self.loaded();
        Skills::find(&Setup {
            config: &config,
            agent: &config.agents["main"],
            state: &self.path("state"),
            commands: &COMMANDS,
            tool_name: "mcp_<server>_<tool>",
        })
    }

    /// The problems as people see them, the directory's name left out.
    pub(crate) fn problems(&self) -> Vec<String> {
        let root = self.path("").display().to_string();
        let problems = self.find().problems;
        problems
            .iter()
            .map(|problem| problem.to_string().replace(&root, ""))
            .collect()
    }
}

/// The names of skills that are not part of the program.
pub(crate) fn names(skills: &Skills) -> Vec<&str> {
    let skills = skills.skills.iter();
    skills
        .map(|skill| skill.name.as_str())
        .filter(|name| *name != "mcp")
        .collect()
}

/// Why a skill does not apply, as people see it.
pub(crate) fn obstacles(skill: &Skill) -> Vec<String> {
    match &skill.standing {
        Standing::Applies => Vec::new(),
        Standing::NotNow(obstacles) => obstacles.iter().map(ToString::to_string).collect(),
    }
}
