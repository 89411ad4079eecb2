//! Where in a document the servers stand, and whose document it is.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use crate::client::{Client, Scope};
use crate::surroundings::Platform;

/// One group of servers in a document.
#[derive(Debug)]
pub(crate) struct Section<'d> {
    /// The key under which it stands, for messages.
    pub(crate) key: &'static str,
    pub(crate) servers: &'d Value,
    /// What is asked of a person, by its identifier: a description.
    pub(crate) inputs: BTreeMap<String, String>,
    /// Where it differs from that of the file.
    pub(crate) scope: Option<Scope>,
}

impl<'d> Section<'d> {
    fn new(key: &'static str, servers: &'d Value) -> Self {
        Self {
            key,
            servers,
            inputs: BTreeMap::new(),
            scope: None,
        }
    }

    fn with_inputs(mut self, inputs: Option<&Value>) -> Self {
        let text = |input: &Value, key| Some(input.get(key)?.as_str()?.to_owned());
        self.inputs = inputs
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|input| {
                let description = text(input, "description").unwrap_or_default();
                Some((text(input, "id")?, description))
            })
            .collect();
        self
    }
}

/// The groups of servers in a client's document; none where it has no place for servers.
pub(crate) fn sections<'d>(
    client: Client,
    document: &'d Map<String, Value>,
    path: &Path,
    (directory, platform): (&Path, Platform),
) -> Vec<Section<'d>> {
    let plain = |key: &'static str| document.get(key).map(|servers| Section::new(key, servers));
    let editor = || {
        let section = plain("servers")?;
        Some(section.with_inputs(document.get("inputs")))
    };
    match client {
        Client::ClaudeDesktop | Client::Cursor | Client::Windsurf => {
            plain("mcpServers").into_iter().collect()
        }
        Client::ClaudeCode => {
            let local = local_servers(document, directory, platform);
            plain("mcpServers").into_iter().chain(local).collect()
        }
        Client::VsCode if is_settings(path) => settings(document).into_iter().collect(),
        Client::VsCode => editor()
            .or_else(|| settings(document))
            .or_else(|| plain("mcpServers"))
            .into_iter()
            .collect(),
        Client::Codex => plain("mcp_servers").into_iter().collect(),
        Client::Unknown => plain("mcpServers")
            .or_else(editor)
            .or_else(|| settings(document))
            .or_else(|| plain("mcp_servers"))
            .into_iter()
            .collect(),
    }
}

fn is_settings(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "settings.json")
}

/// `mcp.servers` of the settings, where VS Code kept its servers before `mcp.json`.
fn settings(document: &Map<String, Value>) -> Option<Section<'_>> {
    if let Some(servers) = document.get("mcp.servers") {
        return Some(Section::new("mcp.servers", servers));
    }
    let mcp = document.get("mcp")?;
    let section = Section::new("mcp.servers", mcp.get("servers")?);
    Some(section.with_inputs(mcp.get("inputs")))
}

/// The servers that Claude Code keeps for one directory.
fn local_servers<'d>(
    document: &'d Map<String, Value>,
    directory: &Path,
    platform: Platform,
) -> Option<Section<'d>> {
    let wanted = comparable(directory.to_str()?, platform);
    let projects = document.get("projects")?.as_object()?;
    let (_, project) = projects
        .iter()
        .find(|(path, _)| comparable(path, platform) == wanted)?;
    let servers = project.get("mcpServers")?;
    Some(Section {
        scope: Some(Scope::Project),
        ..Section::new("projects.….mcpServers", servers)
    })
}

/// A path as it compares: Windows has two separators and no case.
fn comparable(path: &str, platform: Platform) -> String {
    let path = match platform {
        Platform::Windows => path.replace('\\', "/").to_lowercase(),
        Platform::Linux | Platform::MacOs => path.to_owned(),
    };
    match path.trim_end_matches('/') {
        "" => path,
        trimmed => trimmed.to_owned(),
    }
}

/// Whose document a file is, by its name and what stands in it.
pub(crate) fn recognise(path: &Path, document: &Map<String, Value>) -> Client {
    let name = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.unwrap_or_default().to_owned()
    };
    let directory = path.parent().map(name).unwrap_or_default();
    match (directory.as_str(), name(path).as_str()) {
        (_, "claude_desktop_config.json") => return Client::ClaudeDesktop,
        (_, ".claude.json" | ".mcp.json") => return Client::ClaudeCode,
        (_, "mcp_config.json") => return Client::Windsurf,
        (".cursor", _) => return Client::Cursor,
        (".vscode", _) | ("User", "mcp.json" | "settings.json") => return Client::VsCode,
        _ => {}
    }
    if document.contains_key("mcp_servers") {
        Client::Codex
    } else if document.contains_key("mcpServers") {
        if document.contains_key("projects") {
            Client::ClaudeCode
        } else {
            Client::Unknown
        }
    } else if document.contains_key("servers") || settings(document).is_some() {
        Client::VsCode
    } else {
        Client::Unknown
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn recognised(path: &str, document: &Value) -> Client {
        recognise(Path::new(path), document.as_object().unwrap())
    }

    #[test]
    fn files_are_recognised_by_name_and_else_by_content() {
        let servers = json!({ "mcpServers": {} });
        for (path, client) in [
            ("/x/claude_desktop_config.json", Client::ClaudeDesktop),
            ("/x/.mcp.json", Client::ClaudeCode),
            ("/x/.cursor/mcp.json", Client::Cursor),
            ("/x/.vscode/mcp.json", Client::VsCode),
            ("/x/mcp_config.json", Client::Windsurf),
            ("/x/other.json", Client::Unknown),
        ] {
            assert_eq!(recognised(path, &servers), client, "{path}");
        }
        let content = |document| recognised("/x/other", &document);
        assert_eq!(content(json!({ "mcp_servers": {} })), Client::Codex);
        assert_eq!(content(json!({ "servers": {} })), Client::VsCode);
        assert_eq!(content(json!({ "mcp": { "servers": {} } })), Client::VsCode);
        assert_eq!(
            content(json!({ "mcpServers": {}, "projects": {} })),
            Client::ClaudeCode
        );
        assert_eq!(content(json!({})), Client::Unknown);
    }

    #[test]
    fn windows_compares_paths_without_case_and_with_both_separators() {
        let document = json!({ "projects": { "C:/Work/Site": { "mcpServers": { "a": {} } } } });
        let document = document.as_object().unwrap();
        let at = |directory: &str, platform| {
            local_servers(document, Path::new(directory), platform).is_some()
        };
        assert!(at("c:\\work\\site\\", Platform::Windows));
        assert!(!at("c:/srv/site", Platform::Linux));
        assert!(at("C:/Work/Site/", Platform::Linux));
    }
}
