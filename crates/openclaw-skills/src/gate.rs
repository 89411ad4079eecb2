//! Whether what a skill requires is there.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use openclaw_config::{Agent, Config, ConfigValue, Definition, SkillSettings, SkillsSettings};

use crate::fields::{Manifest, Requirements};
use crate::roots::Origin;

/// How many directories programs are looked for in.
const MOST_DIRECTORIES: usize = 200;

/// Whether a skill applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It does.
    Applies,
    /// It does not, for these reasons; there is at least one.
    NotNow(Vec<Obstacle>),
}

/// Why a skill does not apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The configuration switches it off.
    SwitchedOff,
    /// What the configuration says about skills, or about this one, is wrong.
    BrokenSettings,
    /// It is bundled, and not among those that are allowed.
    NotAllowed,
    /// It is for these systems only.
    OtherSystem(Vec<String>),
    /// These programs are missing.
    MissingPrograms(Vec<String>),
    /// One of these programs would be needed.
    NoProgramOf(Vec<String>),
    /// These variables are not set.
    MissingVariables(Vec<String>),
    /// These settings are not set in the configuration.
    MissingSettings(Vec<String>),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            names.join(", ")
        };
        match self {
            Self::SwitchedOff => formatter.write_str("it is switched off in the configuration"),
            Self::BrokenSettings => {
                formatter.write_str("its settings are wrong: see `openclaw config validate`")
            }
            Self::NotAllowed => formatter.write_str("it is not among `skills.allowBundled`"),
            Self::OtherSystem(names) => write!(formatter, "it is only for {}", list(names)),
            Self::MissingPrograms(names) => {
                write!(formatter, "not found among programs: {}", list(names))
            }
            Self::NoProgramOf(names) => {
                write!(formatter, "needs one of the programs {}", list(names))
            }
            Self::MissingVariables(names) => {
                write!(formatter, "not set in the environment: {}", list(names))
            }
            Self::MissingSettings(names) => {
                write!(formatter, "not set in the configuration: {}", list(names))
            }
        }
    }
}

/// What skills are judged with.
pub(crate) struct Gate<'a> {
    config: &'a Config,
    agent: &'a Agent,
    system: &'a str,
    /// Where programs are looked for.
    directories: Vec<PathBuf>,
    /// The programs that were looked for.
    programs: HashMap<String, bool>,
}

impl<'a> Gate<'a> {
    pub(crate) fn new(config: &'a Config, agent: &'a Agent) -> Self {
        let environment = &config.environment;
        // The `.env` file of a directory that somebody else filled has no say in this.
        let path = environment.own_variable("PATH").unwrap_or_default();
        let directories = std::env::split_paths(path)
            .filter(|directory| !directory.as_os_str().is_empty())
            .map(|directory| environment.directory().join(directory))
            .take(MOST_DIRECTORIES)
            .collect();
        Self {
            config,
            agent,
            system: this_system(),
            directories,
            programs: HashMap::new(),
        }
    }

    /// Judges a skill.
    pub(crate) fn standing(&mut self, manifest: &Manifest, origin: Origin) -> Standing {
        let obstacles = self.obstacles(manifest, origin);
        if obstacles.is_empty() {
            Standing::Applies
        } else {
            Standing::NotNow(obstacles)
        }
    }

    fn obstacles(&mut self, manifest: &Manifest, origin: Origin) -> Vec<Obstacle> {
        let Some(settings) = self.config.skills.sound() else {
            return vec![Obstacle::BrokenSettings];
        };
        let own = match settings_of(manifest, settings) {
            None => None,
            Some(Definition::Broken(_)) => return vec![Obstacle::BrokenSettings],
            Some(Definition::Sound(own)) => Some(own.as_ref()),
        };
        if own.is_some_and(|own| !own.enabled) {
            return vec![Obstacle::SwitchedOff];
        }
        let allowed = settings.allow_bundled.as_ref();
        if origin == Origin::Bundled && allowed.is_some_and(|it| !it.contains(&manifest.name)) {
            return vec![Obstacle::NotAllowed];
        }
        self.missing(&manifest.requirements, own)
    }

    /// What a skill requires and is not there.
    fn missing(&mut self, required: &Requirements, own: Option<&SkillSettings>) -> Vec<Obstacle> {
        let mut obstacles = Vec::new();
        let systems = &required.systems;
        if !systems.is_empty() && !systems.iter().any(|name| name == self.system) {
            obstacles.push(Obstacle::OtherSystem(systems.clone()));
        }
        if required.always {
            return obstacles;
        }
        let without = |names: &[String], is_there: &mut dyn FnMut(&str) -> bool| {
            let names = names.iter().filter(|name| !is_there(name));
            names.cloned().collect::<Vec<String>>()
        };
        let mut add = |names: Vec<String>, obstacle: fn(Vec<String>) -> Obstacle| {
            if !names.is_empty() {
                obstacles.push(obstacle(names));
            }
        };
        let missing = without(&required.programs, &mut |name| self.has_program(name));
        add(missing, Obstacle::MissingPrograms);
        let any = &required.any_program;
        if !any.iter().any(|name| self.has_program(name)) {
            add(any.clone(), Obstacle::NoProgramOf);
        }
        let missing = without(&required.variables, &mut |name| {
            self.has_variable(name, required, own)
        });
        add(missing, Obstacle::MissingVariables);
        let missing = without(&required.settings, &mut |path| {
            self.config.has(self.agent, path)
        });
        add(missing, Obstacle::MissingSettings);
        obstacles
    }

    fn has_variable(
        &self,
        name: &str,
        required: &Requirements,
        own: Option<&SkillSettings>,
    ) -> bool {
        let environment = self.config.environment.variable(name);
        if environment.is_some_and(|value| !value.is_empty()) {
            return true;
        }
        let is_primary = required.primary_variable.as_deref() == Some(name);
        own.is_some_and(|own| {
            own.environment.get(name).is_some_and(is_set)
                || (is_primary && own.api_key.as_ref().is_some_and(is_set))
        })
    }

    fn has_program(&mut self, name: &str) -> bool {
        if let Some(known) = self.programs.get(name) {
            return *known;
        }
        // A name, and no way to somewhere else.
        let is_name = Path::new(name).file_name().is_some_and(|it| it == name);
        let found = is_name && {
            let mut directories = self.directories.iter();
            directories.any(|directory| is_program(&directory.join(name)))
        };
        self.programs.insert(name.to_owned(), found);
        found
    }
}

/// What the configuration says about a skill.
fn settings_of<'s>(
    manifest: &Manifest,
    settings: &'s SkillsSettings,
) -> Option<&'s Definition<SkillSettings>> {
    let key = manifest.key.as_ref();
    key.and_then(|key| settings.entries.get(key))
        .or_else(|| settings.entries.get(&manifest.name))
}

fn is_set(value: &ConfigValue) -> bool {
    match value {
        ConfigValue::Plain { value, .. } => !value.expose().is_empty(),
        ConfigValue::Reference { .. } => true,
    }
}

/// The name that skills have for the system that this runs on.
fn this_system() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let metadata = std::fs::metadata(path);
    metadata.is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    let endings = ["", "exe", "cmd", "bat", "com"];
    endings.iter().any(|ending| {
        let mut name = path.as_os_str().to_owned();
        if !ending.is_empty() {
            name.push(".");
            name.push(ending);
        }
        Path::new(&name).is_file()
    })
}
