//! What is typed behind a slash: our own commands, what is nearly one of them, and what others answer.

use crate::commands::spelling::nearest;

/// The commands of the conversation itself: their words, what can follow, and what they do.
pub(super) const OWN: [(&str, &str, &str); 10] = [
    ("exit", "", "leaves"),
    (
        "file",
        "PATH",
        "sends a file along with the next message; `-`, none after all",
    ),
    ("help", "", "lists the commands"),
    (
        "history",
        "[N]",
        "shows the last messages of this session, 20 unless said otherwise",
    ),
    (
        "image",
        "PATH",
        "sends an image along with the next message; `-`, none after all",
    ),
    (
        "model",
        "[NAME]",
        "asks another model from now on; alone, shows which is asked",
    ),
    ("new", "", "begins a new session"),
    ("quit", "", "leaves"),
    (
        "session",
        "[KEY]",
        "goes on with another session; alone, shows which this is",
    ),
    ("sessions", "", "lists the sessions"),
];

/// A command of the conversation itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    Leave,
    File,
    Help,
    History,
    Image,
    Model,
    New,
    Session,
    Sessions,
}

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed<'t> {
    /// Nothing.
    Nothing,
    /// A message for the agent, or a command that it answers.
    Message,
    /// One of our own commands, and what follows it.
    Own(Own, &'t str),
    /// A word that is nearly one of our own commands.
    Near { word: &'t str, meant: &'static str },
    /// A word with which people leave other programs.
    Farewell,
}

/// Tells what was typed. What begins with a space is always a message.
pub(super) fn typed(line: &str) -> Typed<'_> {
    if line.trim().is_empty() {
        return Typed::Nothing;
    }
    let Some(rest) = line.strip_prefix('/') else {
        let word = line.trim_end().to_lowercase();
        return match word.as_str() {
            "exit" | "quit" | "bye" => Typed::Farewell,
            _ => Typed::Message,
        };
    };
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (word, following) = rest.split_at(end);
    // Paths begin with a slash, too.
    let is_of_command = |it: char| it.is_ascii_alphanumeric() || "_-".contains(it);
    if word.is_empty() || !word.chars().all(is_of_command) {
        return Typed::Message;
    }
    let meant = word.to_ascii_lowercase();
    if let Some(own) = own(&meant) {
        return Typed::Own(own, following.trim());
    }
    match nearest(&meant, OWN.iter().map(|(name, ..)| *name)) {
        Some(meant) => Typed::Near { word, meant },
        None => Typed::Message,
    }
}

fn own(word: &str) -> Option<Own> {
    Some(match word {
        "exit" | "quit" => Own::Leave,
        "file" => Own::File,
        "help" => Own::Help,
        "history" => Own::History,
        "image" => Own::Image,
        "model" => Own::Model,
        "new" => Own::New,
        "session" => Own::Session,
        "sessions" => Own::Sessions,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_looks_like_a_command_is_one() {
        for (line, expected) in [
            ("", Typed::Nothing),
            (" \n ", Typed::Nothing),
            ("hello", Typed::Message),
            ("/etc/hosts is wrong", Typed::Message),
            ("/", Typed::Message),
            ("/ x", Typed::Message),
            ("/Help", Typed::Own(Own::Help, "")),
            ("/newsletter", Typed::Message),
            (
                "/helpp",
                Typed::Near {
                    word: "helpp",
                    meant: "help",
                },
            ),
            ("exit", Typed::Farewell),
            ("Bye ", Typed::Farewell),
            (" exit", Typed::Message),
            ("exit now", Typed::Message),
            ("/what?", Typed::Message),
            (" /help", Typed::Message),
            ("/help", Typed::Own(Own::Help, "")),
            ("/quit  ", Typed::Own(Own::Leave, "")),
            ("/image  a b.png ", Typed::Own(Own::Image, "a b.png")),
            (
                "/session\tagent:main:x",
                Typed::Own(Own::Session, "agent:main:x"),
            ),
            ("/mcp auth x", Typed::Message),
            ("/MCP servers", Typed::Message),
            ("/fake:greet name=x", Typed::Message),
            (
                "/helpx\nme",
                Typed::Near {
                    word: "helpx",
                    meant: "help",
                },
            ),
        ] {
            assert_eq!(typed(line), expected, "{line:?}");
        }
    }

    #[test]
    fn every_command_that_is_listed_is_known() {
        for (name, ..) in OWN {
            assert!(own(name).is_some(), "{name}");
        }
        assert!(OWN.is_sorted_by_key(|(name, ..)| *name));
    }
}
