//! What is being typed at the end of a line that begins with a slash.

use serde_json::{Map, Value};

use crate::mcp::{Argument, grammar};
use crate::message::Spoken;
use crate::words::{Word, words};

/// What is being typed.
#[derive(Clone, Debug, PartialEq)]
pub struct Typing {
    /// The byte from which on it would be replaced.
    pub start: usize,
    /// What stands there, without quotes.
    pub prefix: String,
    /// What it is.
    pub what: Wanted,
}

/// What somebody is typing.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// A command; the prefix has no slash.
    Command,
    /// What follows `/mcp`.
    Subcommand,
    /// An option of this command of `/mcp`.
    Option(&'static str),
    /// A server.
    Server,
    /// A tool.
    Tool,
    /// A prompt of this server.
    Prompt(String),
    /// A resource of this server.
    Resource(String),
    /// An argument of a prompt: its name, or its value where there is a name.
    PromptArgument {
        /// The server.
        server: String,
        /// The prompt.
        prompt: String,
        /// The argument whose value is being typed.
        name: Option<String>,
        /// What was typed before.
        given: Map<String, Value>,
    },
    /// A skill.
    Skill,
}

/// What is being typed at the end of a line; none, if nothing is known of what can stand there.
pub fn typing(line: &str) -> Option<Typing> {
    let text = line.strip_prefix('/')?;
    let Some(end) = text.find(char::is_whitespace) else {
        let is_path = text.contains('/');
        return (!is_path).then(|| Typing {
            start: 1,
            prefix: text.to_owned(),
            what: Wanted::Command,
        });
    };
    let spoken = Spoken::read(line)?;
    let base = end + 1;
    let typed = Typed::read(&line[base..], base);
    match spoken.name {
        "mcp" => of_mcp(typed),
        "skill" if typed.before.is_empty() => Some(typed.wanting(Wanted::Skill)),
        _ => {
            let (server, prompt) = spoken.prompts().into_iter().next()?;
            Some(of_prompt(typed, &server, &prompt, 0))
        }
    }
}

/// The words behind a command: those that are over, and the one that is being typed.
struct Typed {
    before: Vec<String>,
    start: usize,
    prefix: String,
}

impl Typed {
    fn read(rest: &str, base: usize) -> Self {
        let mut words = words(rest);
        let is_last_open = words
            .last()
            .is_some_and(|word| word.open.is_some() || word.end == rest.len());
        let last = if is_last_open { words.pop() } else { None };
        let (start, prefix) = match last {
            Some(Word { text, start, .. }) => (base + start, text),
            None => (base + rest.len(), String::new()),
        };
        Self {
            before: words.into_iter().map(|word| word.text).collect(),
            start,
            prefix,
        }
    }

    fn wanting(self, what: Wanted) -> Typing {
        Typing {
            start: self.start,
            prefix: self.prefix,
            what,
        }
    }
}

fn of_mcp(typed: Typed) -> Option<Typing> {
    let Some(first) = typed.before.first() else {
        return Some(typed.wanting(Wanted::Subcommand));
    };
    if first == "help" && typed.before.len() == 1 {
        return Some(typed.wanting(Wanted::Subcommand));
    }
    let command = grammar(first)?;
    if typed.before.iter().any(|word| word == "--") {
        return None;
    }
    if typed.prefix.starts_with('-') {
        return Some(typed.wanting(Wanted::Option(command.name)));
    }
    let given: Vec<&String> = typed.before.iter().skip(1).collect();
    let is_option = |word: &&&String| word.starts_with('-');
    if given.iter().any(|word| is_option(&word)) {
        return None;
    }
    let what = match command.arguments.get(given.len()) {
        Some(Argument::Server) => Wanted::Server,
        Some(Argument::Tool) => Wanted::Tool,
        Some(Argument::Prompt) => Wanted::Prompt((*given.first()?).clone()),
        Some(Argument::Resource) => Wanted::Resource((*given.first()?).clone()),
        None if command.name == "prompt" => {
            let (server, prompt) = ((*given.first()?).clone(), (*given.get(1)?).clone());
            return Some(of_prompt(typed, &server, &prompt, 3));
        }
        None => return None,
    };
    Some(typed.wanting(what))
}

/// An argument of a prompt, behind so many other words.
fn of_prompt(typed: Typed, server: &str, prompt: &str, behind: usize) -> Typing {
    let mut given = Map::new();
    for word in typed.before.iter().skip(behind) {
        if let Some((name, value)) = word.split_once('=') {
            given.insert(name.to_owned(), Value::String(value.to_owned()));
        }
    }
    let (name, prefix) = match typed.prefix.split_once('=') {
        Some((name, value)) => (Some(name.to_owned()), value.to_owned()),
        None => (None, typed.prefix),
    };
    Typing {
        start: typed.start,
        prefix,
        what: Wanted::PromptArgument {
            server: server.to_owned(),
            prompt: prompt.to_owned(),
            name,
            given,
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(line: &str) -> (usize, String, Wanted) {
        let typing = typing(line).unwrap_or_else(|| panic!("{line}"));
        (typing.start, typing.prefix, typing.what)
    }

    fn wanted(start: usize, prefix: &str, what: Wanted) -> (usize, String, Wanted) {
        (start, prefix.to_owned(), what)
    }

    #[test]
    fn every_place_of_a_line_is_known() {
        assert_eq!(at("/"), wanted(1, "", Wanted::Command));
        assert_eq!(at("/mc"), wanted(1, "mc", Wanted::Command));
        assert_eq!(at("/mcp "), wanted(5, "", Wanted::Subcommand));
        assert_eq!(at("/mcp  ser"), wanted(6, "ser", Wanted::Subcommand));
        assert_eq!(at("/mcp help c"), wanted(10, "c", Wanted::Subcommand));
        assert_eq!(at("/mcp status "), wanted(12, "", Wanted::Server));
        assert_eq!(at("/mcp login g"), wanted(11, "g", Wanted::Server));
        assert!(typing("/mcp status a ").is_none());
        assert_eq!(at("/mcp approve x"), wanted(13, "x", Wanted::Tool));
        assert_eq!(
            at("/mcp connect --n"),
            wanted(13, "--n", Wanted::Option("connect"))
        );
        assert!(typing("/mcp connect -- np").is_none());
        let mine = || "my server".to_owned();
        assert_eq!(
            at("/mcp prompt \"my server\" re"),
            wanted(24, "re", Wanted::Prompt(mine()))
        );
        assert_eq!(
            at("/mcp read 'my server' d:"),
            wanted(22, "d:", Wanted::Resource(mine()))
        );
        assert_eq!(at("/skill we"), wanted(7, "we", Wanted::Skill));
        assert!(typing("/skill weather in").is_none());
        assert!(typing("/etc/ho").is_none());
        assert!(typing("hello").is_none());
        assert!(typing("/unknown x").is_none());
    }

    #[test]
    fn arguments_of_prompts_are_known_with_what_was_given_before() {
        let argument = |name: Option<&str>, given: &[(&str, &str)]| Wanted::PromptArgument {
            server: "git".to_owned(),
            prompt: "review".to_owned(),
            name: name.map(str::to_owned),
            given: given
                .iter()
                .map(|(name, value)| ((*name).to_owned(), Value::from(*value)))
                .collect(),
        };
        assert_eq!(at("/git:review "), wanted(12, "", argument(None, &[])));
        assert_eq!(at("/git:review p"), wanted(12, "p", argument(None, &[])));
        assert_eq!(
            at("/git:review a=1 branch=ma"),
            wanted(16, "ma", argument(Some("branch"), &[("a", "1")]))
        );
        assert_eq!(
            at("/mcp prompt git review a=1 branch=\"ma"),
            wanted(27, "ma", argument(Some("branch"), &[("a", "1")]))
        );
    }

    proptest! {
        #[test]
        fn what_is_typed_is_the_end_of_the_line(line in "/(mcp |git:x |skill )?[ -~é]{0,30}") {
            if let Some(typing) = typing(&line) {
                prop_assert!(line.get(typing.start..).is_some());
            }
        }
    }
}
