//! One skill, and what is read of it when it is used.

use std::path::{Component, Path};

use openclaw_content::{ModelText, note, shown_line, workspace_text};
use openclaw_state::{ReadError, read_bounded};
use thiserror::Error;

use crate::command::CommandName;
use crate::document::Document;
use crate::fields::Dispatch;
use crate::gate::Standing;
use crate::problem::unread;
use crate::roots::Origin;
use crate::walk::{FILE, Place};

/// How large a file `SKILL.md` may be, in bytes.
pub(crate) const FILE_BYTES: u64 = 256 << 10;
/// How large another file of a skill may be, in bytes.
const OTHER_FILE_BYTES: u64 = 1 << 20;
/// How much of a file a model reads, in bytes.
const SHOWN_BYTES: usize = 64 << 10;

/// A skill: what it says about itself, and whether it applies.
///
/// All texts stay on one line and can be shown on a terminal. What a model reads comes from
/// [`Skill::text`], [`Skill::file`] and [`prompt_block`](crate::prompt_block).
#[derive(Clone, Debug)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// When it is of use.
    pub description: String,
    /// A sign for it.
    pub emoji: Option<String>,
    /// Where people read more about it.
    pub homepage: Option<String>,
    /// The command that calls it, where it has one of its own.
    pub command: Option<CommandName>,
    /// What its command does instead of asking a model.
    pub dispatch: Option<Dispatch>,
    /// Whether people may call it.
    pub user_invocable: bool,
    /// Whether models may read it on their own.
    pub model_invocable: bool,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether it applies.
    pub standing: Standing,
    pub(crate) source: Source,
}

/// Where the text of a skill is.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// In a directory.
    Directory(Place),
    /// Here.
    Bundled(String),
}

/// Why nothing of a skill can be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SkillError {
    /// Its file is not what it was when it was found.
    #[error("the skill `{skill}` cannot be used any more: {reason}")]
    Changed {
        /// The skill.
        skill: String,
        /// What is wrong, in words that can be shown.
        reason: String,
    },
    /// There is no such file in its directory.
    #[error("the skill `{skill}` has no file `{file}`")]
    NoSuchFile {
        /// The skill.
        skill: String,
        /// The file that was asked for, in words that can be shown.
        file: String,
    },
    /// The path leads out of its directory.
    #[error("`{file}` is not in the directory of the skill `{skill}`")]
    Outside {
        /// The skill.
        skill: String,
        /// The file that was asked for, in words that can be shown.
        file: String,
    },
    /// The file cannot be read by a model.
    #[error("`{file}` of the skill `{skill}` cannot be read: {reason}")]
    Unreadable {
        /// The skill.
        skill: String,
        /// The file that was asked for, in words that can be shown.
        file: String,
        /// Why, in words that can be shown.
        reason: String,
    },
}

impl Skill {
    /// Whether it applies.
    pub fn applies(&self) -> bool {
        self.standing == Standing::Applies
    }

    /// Its directory, where it has one.
    pub fn directory(&self) -> Option<&Path> {
        match &self.source {
            Source::Directory(place) => Some(place.directory()),
            Source::Bundled(_) => None,
        }
    }

    /// Its text for a model, read now. `{baseDir}` in it is its directory.
    ///
    /// It is the owner's word, like a file of the workspace: nothing in it is taken for a frame or a
    /// control token, and the end of a very long one is left out.
    pub fn text(&self) -> Result<ModelText, SkillError> {
        let changed = |reason: &str| SkillError::Changed {
            skill: self.name.clone(),
            reason: shown_line(reason, 400),
        };
        let place = match &self.source {
            Source::Directory(place) => place,
            Source::Bundled(text) => return Ok(for_model(text)),
        };
        let file = place.file().map_err(changed)?;
        let bytes = read_bounded(&file, FILE_BYTES).map_err(|error| changed(&unread(&error)))?;
        let text = String::from_utf8(bytes).map_err(|_| changed("it is not UTF-8 text"))?;
        let document = Document::of(&text).map_err(|mistake| changed(&mistake.message))?;
        let directory = place.directory().display().to_string();
        let body = document.body.replace("{baseDir}", &directory);
        Ok(for_model(body.trim()))
    }

    /// A file in its directory, for a model, read now. A path that leads out of the directory is
    /// refused, by links too.
    pub fn file(&self, relative: &str) -> Result<ModelText, SkillError> {
        let skill = || self.name.clone();
        let file = || shown_line(relative, 200);
        let missing = || SkillError::NoSuchFile {
            skill: skill(),
            file: file(),
        };
        let outside = || SkillError::Outside {
            skill: skill(),
            file: file(),
        };
        let unreadable = |reason: &str| SkillError::Unreadable {
            skill: skill(),
            file: file(),
            reason: shown_line(reason, 400),
        };
        let Source::Directory(place) = &self.source else {
            return Err(missing());
        };
        let path = Path::new(relative);
        let is_plain =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if !path.components().all(is_plain) {
            return Err(outside());
        }
        if relative.is_empty() || relative.contains('\0') {
            return Err(missing());
        }
        let joined = place.directory().join(path);
        let real = joined.canonicalize().map_err(|_| missing())?;
        // The file that makes it a skill may be a link to elsewhere in the root.
        let is_own = place.file().is_ok_and(|own| own == real) && path == Path::new(FILE);
        if !real.starts_with(place.directory()) && !is_own {
            return Err(outside());
        }
        let bytes = read_bounded(&real, OTHER_FILE_BYTES).map_err(|error| match error {
            ReadError::Missing(_) => missing(),
            error => unreadable(&unread(&error)),
        })?;
        let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8 text"))?;
        if text.contains('\0') {
            return Err(unreadable("it is not a text"));
        }
        Ok(for_model(&text))
    }
}

/// Makes a text fit for a model, and says so where its end is left out.
fn for_model(text: &str) -> ModelText {
    let shown = workspace_text(text, SHOWN_BYTES);
    if text.len() <= SHOWN_BYTES {
        return shown;
    }
    let rest = note("(The rest is left out, because the text is too long.)", &[]);
    ModelText::joined([&shown, &rest])
}
