//! How a tool may be called in a message.

use openclaw_ranking::{Document, Index};

use crate::tools::ToolSpec;

/// With which the description of a server's tool begins.
const HEADING: &str = "[MCP server: ";

/// What a tool is called, as far as its definition tells.
///
/// Only ranking uses it: a wrong guess makes a tool a little harder to find, and nothing else.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Naming<'a> {
    /// The server, or nothing.
    pub(super) server: &'a str,
    /// What it is called among the tools of its server.
    pub(super) own: &'a str,
    /// What it does, without the heading.
    pub(super) description: &'a str,
}

impl<'a> Naming<'a> {
    pub(super) fn of(tool: &'a ToolSpec) -> Self {
        let name = tool.name.as_str();
        let text = tool.description.as_str();
        let Some((server, description)) = text
            .strip_prefix(HEADING)
            .and_then(|rest| rest.split_once("] "))
        else {
            return Self {
                server: "",
                own: name,
                description: text,
            };
        };
        Self {
            server,
            own: own_name(name, server),
            description,
        }
    }
}

/// A name without what stands for the server.
fn own_name<'a>(name: &'a str, server: &str) -> &'a str {
    if let Some((_, own)) = name.split_once("__")
        && !name.starts_with("mcp_")
    {
        return own;
    }
    let Some(rest) = name.strip_prefix("mcp_") else {
        return name;
    };
    let as_named = |character: char| match character {
        _ if character.is_ascii_alphanumeric() || character == '-' => character,
        _ => '_',
    };
    let server: String = server.chars().map(as_named).collect();
    let own = rest
        .strip_prefix(server.as_str())
        .and_then(|rest| rest.strip_prefix('_'))
        // It is called something else in names.
        .or_else(|| rest.split_once('_').map(|(_, own)| own));
    own.filter(|own| !own.is_empty()).unwrap_or(name)
}

/// Whether a name is the one that no other tool can have.
pub(super) fn is_qualified(tool: &ToolSpec, name: &str) -> bool {
    let naming = Naming::of(tool);
    let by_server = name.strip_prefix(naming.server);
    let by_server = by_server.and_then(|rest| rest.strip_suffix(naming.own));
    name == tool.name || matches!(by_server, Some("/" | "__"))
}

/// Whether a name is spelled as words of a sentence are.
pub(super) fn is_in_words(name: &str) -> bool {
    let mut words = name.split_whitespace();
    words.all(|word| word.chars().all(char::is_alphabetic) && !is_camel(word))
}

fn is_camel(word: &str) -> bool {
    let mut rest = word.chars().skip(1);
    word.starts_with(char::is_lowercase) && rest.any(char::is_uppercase)
}

/// The tools, ready to be ranked, each at its place.
pub(crate) fn ranking_index(tools: &[ToolSpec]) -> Index {
    let namings: Vec<Naming<'_>> = tools.iter().map(Naming::of).collect();
    let aliases: Vec<String> = namings
        .iter()
        .map(|naming| format!("{}/{}", naming.server, naming.own))
        .collect();
    let aliases: Vec<[&str; 1]> = aliases.iter().map(|alias| [alias.as_str()]).collect();
    let parameters: Vec<Vec<&str>> = tools.iter().map(parameter_names).collect();
    let documents: Vec<Document<'_>> = tools
        .iter()
        .zip(&namings)
        .zip(aliases.iter().zip(&parameters))
        .map(|((tool, naming), (aliases, parameters))| Document {
            name: &tool.name,
            own_name: naming.own,
            aliases: if naming.server.is_empty() {
                &[]
            } else {
                aliases
            },
            description: naming.description,
            parameters,
        })
        .collect();
    Index::new(&documents)
}

fn parameter_names(tool: &ToolSpec) -> Vec<&str> {
    let properties = tool.parameters.get("properties");
    let properties = properties.and_then(serde_json::Value::as_object);
    let names = properties
        .into_iter()
        .flat_map(|properties| properties.keys());
    names.map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_s_own_name_is_found_by_its_server() {
        assert_eq!(own_name("mcp_everything_get-sum", "everything"), "get-sum");
        assert_eq!(
            own_name("mcp_my_server_read_file", "my server"),
            "read_file"
        );
        assert_eq!(own_name("mcp_fs_read_file", "filesystem"), "read_file");
        assert_eq!(own_name("files__read_file", "files"), "read_file");
        assert_eq!(own_name("plain", "files"), "plain");
        assert_eq!(own_name("mcp_files_", "files"), "mcp_files_");
    }
    #[test]
    fn names_are_told_from_words_of_a_sentence() {
        for name in ["echo", "Read File", "delete  entities"] {
            assert!(is_in_words(name), "{name}");
        }
        for name in ["read_file", "get-sum", "readFile", "files/read", "sha256"] {
            assert!(!is_in_words(name), "{name}");
        }
        let tool = ToolSpec {
            name: "mcp_files_read_file".to_owned(),
            description: openclaw_content::description("files", "Reads.").text,
            parameters: serde_json::Map::new(),
        };
        for name in ["mcp_files_read_file", "files/read_file", "files__read_file"] {
            assert!(is_qualified(&tool, name), "{name}");
        }
        for name in ["read_file", "files read_file", "mcp files read file"] {
            assert!(!is_qualified(&tool, name), "{name}");
        }
    }
}
