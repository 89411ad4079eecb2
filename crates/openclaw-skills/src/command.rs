//! Names under which people call skills.

use std::collections::HashSet;
use std::fmt;

/// The longest name of a command, in characters.
const LONGEST: usize = 32;

/// The name of a command: 1 to 32 of `a` to `z`, `0` to `9` and `_`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommandName(String);

impl CommandName {
    /// The name that follows from the name of a skill.
    fn of(skill: &str) -> Self {
        let mut name = String::new();
        for character in skill.chars().flat_map(char::to_lowercase) {
            if character.is_ascii_alphanumeric() {
                name.push(character);
            } else if !name.is_empty() && !name.ends_with('_') {
                name.push('_');
            }
        }
        name.truncate(LONGEST);
        name.truncate(name.trim_end_matches('_').len());
        if name.is_empty() {
            name.push_str("skill");
        }
        Self(name)
    }

    /// The same with a number at its end.
    fn numbered(&self, number: usize) -> Self {
        let end = format!("_{number}");
        let start = self.0.get(..LONGEST.saturating_sub(end.len()));
        let start = start.unwrap_or(&self.0).trim_end_matches('_');
        Self(format!("{start}{end}"))
    }

    /// The name, without a slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CommandName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The names that are taken.
pub(crate) struct Commands<'a> {
    built_in: &'a [&'a str],
    taken: HashSet<CommandName>,
}

/// A command of that name is there without any skill.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct IsBuiltIn(pub(crate) CommandName);

impl<'a> Commands<'a> {
    pub(crate) fn new(built_in: &'a [&'a str]) -> Self {
        Self {
            built_in,
            taken: HashSet::new(),
        }
    }

    /// Gives a skill its name.
    pub(crate) fn name(&mut self, skill: &str) -> Result<CommandName, IsBuiltIn> {
        let plain = CommandName::of(skill);
        if self.is_built_in(&plain) {
            return Err(IsBuiltIn(plain));
        }
        let mut name = plain.clone();
        let mut number = 1;
        while self.is_built_in(&name) || self.taken.contains(&name) {
            number += 1;
            name = plain.numbered(number);
        }
        self.taken.insert(name.clone());
        Ok(name)
    }

    fn is_built_in(&self, name: &CommandName) -> bool {
        let mut built_in = self.built_in.iter();
        built_in.any(|word| word.trim_start_matches('/').eq_ignore_ascii_case(&name.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_have_only_what_can_be_typed_everywhere() {
        for (skill, name) in [
            ("weather", "weather"),
            ("Git-Hub  Issues!", "git_hub_issues"),
            ("--x--", "x"),
            ("überall", "berall"),
            ("天気", "skill"),
            (
                "a.very.long.name.that.goes.on.and.on",
                "a_very_long_name_that_goes_on_an",
            ),
        ] {
            assert_eq!(CommandName::of(skill).as_str(), name);
        }
    }

    #[test]
    fn names_are_given_once_and_never_those_of_other_commands() {
        let mut commands = Commands::new(&["/mcp", "new", "a_2"]);
        let mut name = |skill: &str| commands.name(skill).map(|name| name.0);
        assert_eq!(name("a").unwrap(), "a");
        assert_eq!(name("A").unwrap(), "a_3");
        assert_eq!(name("MCP"), Err(IsBuiltIn(CommandName("mcp".to_owned()))));
        let long = "x".repeat(40);
        assert_eq!(name(&long).unwrap(), "x".repeat(32));
        assert_eq!(name(&long).unwrap(), format!("{}_2", "x".repeat(30)));
    }

    proptest! {
        #[test]
        fn any_names_become_different_commands(skills in prop::collection::vec(".{0,50}", 0..30)) {
            let mut commands = Commands::new(&[]);
            let mut seen = HashSet::new();
            for skill in skills {
                let name = commands.name(&skill).unwrap();
                let signs = name.as_str().bytes();
                prop_assert!((1..=LONGEST).contains(&name.as_str().len()));
                prop_assert!(signs.clone().all(|it| matches!(it, b'a'..=b'z' | b'0'..=b'9' | b'_')));
                prop_assert!(seen.insert(name));
            }
        }
    }
}
