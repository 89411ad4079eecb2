//! Finds skills, texts that teach an agent how something is done, and says which of them apply.
//!
//! A skill is a directory with a file `SKILL.md`: a few fields between two lines `---`, and a text
//! for models below them. They are looked for anew whenever they are asked for, since files change.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `roots` | where skills are looked for, and in which order | reading files |
//! | `walk` | the directories below a root: bounded, links that stay inside | what is in a file |
//! | `document` | a file into fields and a text | what the fields mean |
//! | `value`, `yaml`, `json` | fields as values that know their line | the names of fields |
//! | `fields` | what a skill says about itself | whether that is given |
//! | `gate` | whether what a skill requires is there | where skills come from |
//! | `command` | names under which people call skills | running commands |
//! | `bundled` | the skills that are part of the program | files |
//! | `find` | all skills with their standing and their commands | |
//! | `skill` | one skill, and what is read of it when it is used | |
//! | `prompt` | what a model is told of skills before it reads one | |
//! | `problem` | what is wrong with a file of a skill | |

mod bundled;
mod command;
mod document;
mod fields;
mod find;
mod gate;
mod json;
mod problem;
mod prompt;
mod roots;
mod skill;
mod value;
mod walk;
mod yaml;

pub use command::CommandName;
pub use fields::Dispatch;
pub use find::{Setup, Skills};
pub use gate::{Obstacle, Standing};
pub use problem::{Problem, ProblemKind};
pub use prompt::prompt_block;
pub use roots::Origin;
pub use skill::{Skill, SkillError};
