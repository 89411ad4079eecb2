//! All skills, with their standing and their commands.

use std::path::Path;

use openclaw_config::{Agent, Config};
use openclaw_state::read_bounded;

use crate::bundled::{self, Bundled};
use crate::command::{Commands, IsBuiltIn};
use crate::document::Document;
use crate::fields::Manifest;
use crate::gate::Gate;
use crate::problem::{Problem, unread};
use crate::roots::{Origin, roots};
use crate::skill::{FILE_BYTES, Skill, Source};
use crate::value::Mistake;
use crate::walk::{Place, Walk};

/// What decides which skills there are, and which of them apply.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The agent that uses them.
    pub agent: &'a Agent,
    /// The state directory.
    pub state: &'a Path,
    /// The names of commands that are there without any skill: no skill takes them.
    pub commands: &'a [&'a str],
    /// How tools of servers are named for models, such as `mcp_<server>_<tool>`: what bundled skills
    /// say instead of `{toolName}`.
    pub tool_name: &'a str,
}

/// The skills of an agent.
#[derive(Clone, Debug, Default)]
pub struct Skills {
    /// All of them, also those that do not apply, in the order of their names.
    pub skills: Vec<Skill>,
    /// What was wrong on the way.
    pub problems: Vec<Problem>,
}

impl Skills {
    /// Looks for skills. This reads files, and takes a few milliseconds for 50 skills.
    ///
    /// A file that can't be read or is wrong costs only itself, and is among the problems.
    pub fn find(setup: &Setup<'_>) -> Self {
        let settings = setup.config.skills.sound();
        let roots = roots(
            setup.agent.workspace.as_deref(),
            &setup.config.environment,
            setup.state,
            settings.map(AsRef::as_ref),
        );
        let mut walk = Walk::default();
        for root in &roots {
            walk.look(root);
        }
        let mut collection = Collection {
            gate: Gate::new(setup.config, setup.agent),
            commands: Commands::new(setup.commands),
            skills: Vec::new(),
            walk: Walk::default(),
        };
        let places = std::mem::take(&mut walk.places);
        collection.walk = walk;
        for (origin, place) in places {
            collection.add_place(origin, place);
        }
        for skill in &bundled::ALL {
            collection.add_bundled(skill, setup.tool_name);
        }
        let mut skills = collection.skills;
        skills.sort_by(|one, other| one.name.cmp(&other.name));
        Self {
            skills,
            problems: collection.walk.problems,
        }
    }

    /// The skill of this name, however its letters are written.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        let name = name.trim();
        let exact = self.skills.iter().find(|skill| skill.name == name);
        exact.or_else(|| {
            let lower = name.to_lowercase();
            let mut skills = self.skills.iter();
            skills.find(|skill| skill.name.to_lowercase() == lower)
        })
    }

    /// The skill that this command calls.
    pub fn of_command(&self, command: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| {
            let own = skill.command.as_ref();
            own.is_some_and(|own| own.as_str().eq_ignore_ascii_case(command))
        })
    }
}

/// Skills on their way.
struct Collection<'a> {
    gate: Gate<'a>,
    commands: Commands<'a>,
    skills: Vec<Skill>,
    walk: Walk,
}

impl Collection<'_> {
    fn add_place(&mut self, origin: Origin, place: Place) {
        let path = place.shown_file();
        match read(&place) {
            Ok(manifest) => self.add(manifest, origin, Source::Directory(place), &path),
            Err(Refusal { line, message }) => self.walk.problem(&path, line, &message),
        }
    }

    fn add_bundled(&mut self, skill: &Bundled, tool_name: &str) {
        let path = skill.path();
        let document = Document::of(skill.text);
        let read = document.and_then(|document| {
            let manifest = Manifest::read(&document.fields()?, skill.directory)?;
            Ok((manifest, document.body))
        });
        match read {
            Ok((manifest, body)) => {
                let body = body.trim().replace("{toolName}", tool_name);
                self.add(manifest, Origin::Bundled, Source::Bundled(body), &path);
            }
            Err(mistake) => self
                .walk
                .problem(&path, Some(mistake.line), &mistake.message),
        }
    }

    /// Adds a skill, unless one of that name was found before.
    fn add(&mut self, manifest: Manifest, origin: Origin, source: Source, path: &Path) {
        let mut before = self.skills.iter();
        if let Some(first) = before.find(|skill| skill.name == manifest.name) {
            // Replacing a skill is what the order of the places is for; twice in one is a mistake.
            if first.origin == origin {
                let first = first.directory().unwrap_or(Path::new("")).display();
                let message = format!("`{}` is the name of the skill in {first}", manifest.name);
                self.walk.problem(path, None, &message);
            }
            return;
        }
        let command = manifest
            .user_invocable
            .then(|| self.commands.name(&manifest.name));
        let command = match command.transpose() {
            Ok(command) => command,
            Err(IsBuiltIn(command)) => {
                // Those of ours are made for the command that is there.
                if origin != Origin::Bundled {
                    let message = format!(
                        "`/{command}` is another command: this skill is called with `/skill {}`",
                        manifest.name
                    );
                    self.walk.remark(path, &message);
                }
                None
            }
        };
        let standing = self.gate.standing(&manifest, origin);
        self.skills.push(Skill {
            name: manifest.name,
            description: manifest.description,
            emoji: manifest.emoji,
            homepage: manifest.homepage,
            command,
            dispatch: manifest.dispatch,
            user_invocable: manifest.user_invocable,
            model_invocable: manifest.model_invocable,
            origin,
            standing,
            source,
        });
    }
}

/// Why a skill is left out.
struct Refusal {
    line: Option<usize>,
    message: String,
}

impl Refusal {
    /// Of the whole file.
    fn file(message: impl Into<String>) -> Self {
        Self {
            line: None,
            message: message.into(),
        }
    }
}

impl From<Mistake> for Refusal {
    fn from(mistake: Mistake) -> Self {
        Self {
            line: Some(mistake.line),
            message: mistake.message,
        }
    }
}

/// Reads what a skill says about itself.
fn read(place: &Place) -> Result<Manifest, Refusal> {
    let file = place.file().map_err(Refusal::file)?;
    let bytes = read_bounded(&file, FILE_BYTES).map_err(|error| Refusal::file(unread(&error)))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..valid).unwrap_or_default();
        let line = before.split(|byte| *byte == b'\n').count();
        Mistake::new(line, "this is not UTF-8 text")
    })?;
    let document = Document::of(&text)?;
    let manifest = Manifest::read(&document.fields()?, &place.name())?;
    Ok(manifest)
}
