//! Skills: where they are looked for, and which of them are used.

use crate::expand::Text;
use crate::raw::RawCredential;
use crate::raw::entries::Entries;
use crate::raw::variables::VariableMap;
use crate::shape::{NonEmpty, object};

object! {
    /// Skills: texts that teach agents how something is done.
    open RawSkills as "skills" {
        /// Where they are looked for.
        load: RawSkillsLoad = "load";
        /// The skills of OpenClaw itself that are used, by name. Without it: all.
        allow_bundled: Vec<Text> = "allowBundled";
        /// What holds for single skills, by their names or by their `skillKey`.
        entries: Entries<RawSkill> = "entries";
    }
}

object! {
    /// Where skills are looked for.
    open RawSkillsLoad as "skillsLoad" {
        /// More directories with skills, after those of the workspace, of the user and of the state
        /// directory. Relative ones begin at the directory of the configuration file.
        extra_dirs: Vec<NonEmpty> = "extraDirs";
    }
}

object! {
    /// What holds for one skill.
    open RawSkill as "skill" {
        /// Whether it is used.
        enabled: bool = "enabled", default true;
        /// Variables that count as set where the skill requires them.
        env: VariableMap = "env";
        /// Counts as the variable that the skill calls its `primaryEnv`.
        api_key: RawCredential = "apiKey";
    }
}
