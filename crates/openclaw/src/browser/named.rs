//! What the variable `BROWSER` says: programs, separated as in `PATH`, the better ones first.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use url::Url;

/// Browsers that need the terminal, which is ours.
const IN_TERMINALS: [&str; 7] = [
    "browsh",
    "elinks",
    "links",
    "links2",
    "lynx",
    "w3m",
    "www-browser",
];

/// A program that opens pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedBrowser {
    program: OsString,
    arguments: Vec<String>,
}

/// The programs that a list names. What is no command is left out.
pub(super) fn list(list: &OsStr) -> Vec<NamedBrowser> {
    std::env::split_paths(list)
        .filter_map(|entry| NamedBrowser::read(entry.as_os_str()))
        .collect()
}

impl NamedBrowser {
    fn read(entry: &OsStr) -> Option<Self> {
        // A path may have spaces in it.
        if Path::new(entry).is_file() {
            return Self::new(entry.to_owned(), Vec::new());
        }
        let mut words = words(entry.to_str()?)?.into_iter();
        let program = words.next().filter(|program| !program.is_empty())?;
        Self::new(program.into(), words.collect())
    }

    fn new(program: OsString, arguments: Vec<String>) -> Option<Self> {
        let name = Path::new(&program).file_name()?.to_str();
        let is_in_terminal = name.is_some_and(|name| IN_TERMINALS.contains(&name));
        (!is_in_terminal).then_some(Self { program, arguments })
    }

    /// What opens a page. Its address is one argument, or a part of one, where the list has `%s`;
    /// otherwise it is the last.
    pub(super) fn command(&self, url: &Url) -> Command {
        let mut command = Command::new(&self.program);
        let mut is_named = false;
        for argument in &self.arguments {
            let (argument, has_url) = filled(argument, url.as_str());
            is_named |= has_url;
            command.arg(argument);
        }
        if !is_named {
            command.arg(url.as_str());
        }
        command
    }
}

/// An argument with the address in its place, and whether it has one: `%s` is the address, `%c` a
/// colon, `%%` a percent sign.
fn filled(argument: &str, url: &str) -> (String, bool) {
    let mut text = String::new();
    let mut has_url = false;
    let mut rest = argument;
    // In one pass: an address is full of percent signs itself.
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        let (meant, length) = match after.as_bytes().first() {
            Some(b's') => {
                has_url = true;
                (url, 1)
            }
            Some(b'c') => (":", 1),
            Some(b'%') => ("%", 1),
            _ => ("%", 0),
        };
        text.push_str(meant);
        rest = after.get(length..).unwrap_or_default();
    }
    text.push_str(rest);
    (text, has_url)
}

/// The words of a command, without a shell: quotation marks keep words together, and nothing else
/// has a meaning.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for character in line.chars() {
        match quote {
            Some(mark) if character == mark => quote = None,
            None if matches!(character, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            None if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAGE: &str = "https://auth.example/authorize?a=%c3%a4&b=%2Fs%25&c=$(id);x";

    fn commands(variable: &str) -> Vec<Vec<String>> {
        let url = Url::parse(PAGE).unwrap();
        let shown = |browser: &NamedBrowser| {
            let command = browser.command(&url);
            let words = std::iter::once(command.get_program()).chain(command.get_args());
            words
                .map(|word| word.to_str().unwrap().to_owned())
                .collect()
        };
        list(OsStr::new(variable)).iter().map(shown).collect()
    }

    #[test]
    fn the_address_is_an_argument_as_it_is() {
        assert_eq!(commands("firefox"), [["firefox", PAGE]]);
        assert_eq!(
            commands("firefox -P work"),
            [["firefox", "-P", "work", PAGE]]
        );
        assert_eq!(
            commands("open -a 'Google Chrome' %s -n"),
            [["open", "-a", "Google Chrome", PAGE, "-n"]]
        );
        let placed = format!("--url={PAGE}:%%d%x%");
        assert_eq!(commands("x --url=%s%c%%%%d%x%"), [["x", placed.as_str()]]);
    }

    #[cfg(unix)]
    #[test]
    fn several_are_tried_in_order_and_nonsense_is_left_out() {
        let found = commands("first::'no end:w3m:/usr/bin/lynx -x:\"\" a:second %s: ");
        assert_eq!(found, [["first", PAGE], ["second", PAGE]]);
        assert!(commands("").is_empty());
    }

    #[test]
    fn a_path_with_spaces_is_one_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my browser");
        std::fs::write(&path, "").unwrap();
        let path = path.to_str().unwrap();
        assert_eq!(commands(path), [[path, PAGE]]);
    }

    proptest! {
        #[test]
        fn the_address_is_there_once_for_each_place_and_never_the_program(
            variable in "[a-c%s'\" \\\\:é]{0,40}",
        ) {
            for command in commands(&variable) {
                prop_assert!(!command[0].contains(PAGE), "{command:?}");
                prop_assert!(command[1..].iter().any(|word| word.contains(PAGE)), "{command:?}");
            }
        }
    }
}
