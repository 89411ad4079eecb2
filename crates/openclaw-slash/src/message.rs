//! Whether a message is a command.

use crate::words::words;

/// A message that begins like a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spoken<'m> {
    /// What stands behind the slash, as it was typed.
    pub name: &'m str,
    /// What follows it, as it was typed.
    pub rest: &'m str,
}

impl<'m> Spoken<'m> {
    /// Reads a message. One with a second slash in its first word is a path, and one that begins with
    /// a blank is meant as it is.
    pub fn read(message: &'m str) -> Option<Self> {
        let text = message.strip_prefix('/')?;
        if text.starts_with(char::is_whitespace) {
            return None;
        }
        // Names with blanks in them are quoted.
        let first = words(text).into_iter().next()?;
        let (name, rest) = text.split_at(first.end);
        let is_name = !name.contains('/') && !name.contains('\n') && first.open.is_none();
        is_name.then_some(Self {
            name,
            rest: rest.trim(),
        })
    }

    /// The servers and prompts that it can name, one for each colon, longer names of servers first.
    pub fn prompts(self) -> Vec<(String, String)> {
        let name = words(self.name).into_iter().next();
        let name = name.map(|word| word.text).unwrap_or_default();
        let colons = name.rmatch_indices(':').map(|(at, _)| at);
        colons
            .map(|at| (name[..at].to_owned(), name[at + 1..].to_owned()))
            .filter(|(server, prompt)| !server.is_empty() && !prompt.is_empty())
            .collect()
    }

    /// Whether it can be nothing but a command: other words behind a slash may be meant for a model.
    pub fn looks_like_a_command(self) -> bool {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        self.name
            .starts_with(|letter: char| letter.is_ascii_alphabetic())
            && self.name.chars().all(is_letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_messages() {
        let read = |text| Spoken::read(text).map(|it| (it.name, it.rest));
        assert_eq!(read("/mcp  servers "), Some(("mcp", "servers")));
        assert_eq!(read("/mcp\nservers"), Some(("mcp", "servers")));
        assert_eq!(read("/help"), Some(("help", "")));
        assert_eq!(read("/\"my server\":go x"), Some(("\"my server\":go", "x")));
        for message in [
            "/etc/hosts is what?",
            " /mcp servers",
            "/ ",
            "/",
            "//",
            "mcp",
            "/\"never closed",
            "/it's never closed",
        ] {
            assert_eq!(read(message), None, "{message}");
        }
    }

    #[test]
    fn prompts_are_named_with_their_server() {
        let prompts = |text| Spoken::read(text).unwrap().prompts();
        let pair = |server: &str, prompt: &str| (server.to_owned(), prompt.to_owned());
        assert_eq!(prompts("/git:review pr=1"), [pair("git", "review")]);
        assert_eq!(prompts("/a:b:c"), [pair("a:b", "c"), pair("a", "b:c")]);
        assert_eq!(prompts("/\"my server\":go"), [pair("my server", "go")]);
        assert!(prompts("/git: x").is_empty() && prompts("/:x").is_empty());
    }

    #[test]
    fn a_question_with_a_slash_need_not_be_a_command() {
        let looks = |text| Spoken::read(text).unwrap().looks_like_a_command();
        assert!(looks("/mpc servers") && looks("/MCP servers"));
        assert!(!looks("/? what") && !looks("/2 of them") && !looks("/über") && !looks("/a:b"));
    }
}
