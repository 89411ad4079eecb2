//! What a person is asked, and what can be answered.

use std::pin::Pin;

use openclaw_content::shown_line;
use serde_json::{Map, Value};

/// How much is shown of a name, in characters.
const NAME: usize = 100;
/// How much is shown of a description.
const DESCRIPTION: usize = 300;
/// How many arguments are shown.
const ARGUMENTS: usize = 20;
/// How much is shown of each.
const ARGUMENT: usize = 400;

/// A question to a person: whether a tool may run.
///
/// Every text is one line that does a terminal no harm. Servers and models wrote them: they say
/// what is claimed, and must be shown as such.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalQuestion {
    /// The agent that wants it.
    pub agent: String,
    /// The server.
    pub server: String,
    /// The tool, by its name at the server.
    pub tool: String,
    /// The tool, by the name that models use.
    pub name: String,
    /// What the server calls the tool for people.
    pub title: Option<String>,
    /// What the server says that the tool does.
    pub description: Option<String>,
    /// What it will be called with, the beginning of it.
    pub arguments: Vec<ShownArgument>,
    /// How many arguments are not shown.
    pub more_arguments: usize,
}

/// An argument as a person sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownArgument {
    /// Its name.
    pub name: String,
    /// Its value as JSON; it ends in `…` where something is left out.
    pub value: String,
    /// How many bytes the whole value has as JSON.
    pub bytes: usize,
}

/// What a person says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// This once.
    Once,
    /// This time and from now on, for this agent, until the tool's definition changes.
    Always,
    /// No.
    No,
}

/// Asks a person: a terminal, an editor, a web page.
pub trait Approver: Send + Sync {
    /// Asks, and waits for the answer. The question is withdrawn when this is dropped.
    fn approve(
        &self,
        question: ApprovalQuestion,
    ) -> Pin<Box<dyn Future<Output = ApprovalAnswer> + Send + '_>>;
}

/// A name as a person sees it.
pub(super) fn shown_name(name: &str) -> String {
    shown_line(name, NAME)
}

/// A description as a person sees it; none where nothing of it can be seen.
pub(super) fn shown_description(text: &str) -> Option<String> {
    Some(shown_line(text, DESCRIPTION)).filter(|line| !line.is_empty())
}

/// The arguments as a person sees them, and how many are left out.
pub(super) fn shown_arguments(arguments: &Map<String, Value>) -> (Vec<ShownArgument>, usize) {
    let shown = arguments.iter().take(ARGUMENTS).map(|(name, value)| {
        let json = value.to_string();
        ShownArgument {
            name: shown_name(name),
            value: shown_line(&json, ARGUMENT),
            bytes: json.len(),
        }
    });
    (shown.collect(), arguments.len().saturating_sub(ARGUMENTS))
}

#[cfg(test)]
pub(super) mod tests {
    use openclaw_config::ToolNaming;
    use serde_json::json;

    use super::*;
    use crate::names::{NamedTool, ToolNames, ToolSource};

    /// A tool beside servers whose names begin alike.
    pub(in crate::approval) fn named(server: &str, tool: &str) -> NamedTool {
        let source = |server, tools| ToolSource {
            server,
            prefix: None,
            naming: ToolNaming::Prefixed,
            tools,
        };
        let mut sources = vec![source(server, vec![tool])];
        for other in ["git", "git_hub", "files"] {
            if other != server {
                sources.push(source(other, vec![]));
            }
        }
        let names = ToolNames::new(&sources);
        names.iter().next().unwrap().clone()
    }

    #[test]
    fn what_is_shown_is_short_and_harmless() {
        let mut arguments = Map::new();
        arguments.insert("a\u{1b}[2J\nb".to_owned(), json!("x\u{1b}[31m\u{202e}y"));
        arguments.insert("long".to_owned(), json!("z".repeat(1_000_000)));
        for number in 0..30 {
            arguments.insert(number.to_string(), json!({"n": number}));
        }
        let (shown, more) = shown_arguments(&arguments);
        assert_eq!((shown.len(), more), (ARGUMENTS, 12));
        assert_eq!(shown[0].name, "a b");
        assert_eq!(shown[0].value, "\"x\\u001b[31my\"");
        assert_eq!(shown[1].bytes, 1_000_002);
        assert!(shown[1].value.ends_with('…'));
        assert_eq!(shown[1].value.chars().count(), ARGUMENT + 1);
        assert_eq!(shown[2].value, "{\"n\":0}");
        assert_eq!(shown_description(" \u{200b}\n"), None);
    }
}
