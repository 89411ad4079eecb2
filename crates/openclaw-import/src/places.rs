//! Where each client keeps its files.

use std::path::{Path, PathBuf};

use crate::client::{Client, Scope};
use crate::surroundings::{Platform, Surroundings};

/// A file that may be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) client: Client,
    pub(crate) path: PathBuf,
    pub(crate) scope: Scope,
}

/// The editions of VS Code, by the directory of their settings.
const EDITIONS: [&str; 3] = ["Code", "Code - Insiders", "VSCodium"];

/// The files of one client, those of the user first.
pub(crate) fn places(client: Client, surroundings: &Surroundings) -> Vec<Place> {
    let home = &surroundings.home;
    let project = &surroundings.directory;
    let settings = surroundings.application_settings();
    let (user, of_project): (Vec<PathBuf>, Vec<PathBuf>) = match client {
        Client::ClaudeDesktop => (
            vec![settings.join("Claude").join("claude_desktop_config.json")],
            Vec::new(),
        ),
        Client::ClaudeCode => {
            let directory = surroundings.claude_config.as_ref().unwrap_or(home);
            (
                vec![directory.join(".claude.json")],
                vec![project.join(".mcp.json")],
            )
        }
        Client::Cursor => (
            vec![home.join(".cursor").join("mcp.json")],
            vec![project.join(".cursor").join("mcp.json")],
        ),
        Client::VsCode => {
            let mut directories: Vec<PathBuf> = EDITIONS
                .iter()
                .map(|edition| settings.join(edition).join("User"))
                .collect();
            // Where an editor on another machine works on this one.
            if surroundings.platform == Platform::Linux {
                directories.push(home.join(".vscode-server").join("data").join("User"));
            }
            let both =
                |directory: &PathBuf| [directory.join("mcp.json"), directory.join("settings.json")];
            (
                directories.iter().flat_map(both).collect(),
                both(&project.join(".vscode")).into(),
            )
        }
        Client::Codex => {
            let directory = surroundings.codex_home.clone();
            let directory = directory.unwrap_or_else(|| home.join(".codex"));
            (
                vec![directory.join("config.toml")],
                vec![project.join(".codex").join("config.toml")],
            )
        }
        Client::Windsurf => {
            let directory = home.join(".codeium");
            let files = ["windsurf", "windsurf-next", ""]
                .map(|edition| directory.join(edition).join("mcp_config.json"));
            (files.into(), Vec::new())
        }
        Client::Unknown => (Vec::new(), Vec::new()),
    };
    let user = user.into_iter().map(|path| (path, Scope::User));
    let of_project = of_project.into_iter().map(|path| (path, Scope::Project));
    let mut places: Vec<Place> = Vec::new();
    for (path, scope) in user.chain(of_project) {
        // In the home directory the file of the project is the one of the user.
        if !places.iter().any(|place| place.path == path) {
            places.push(Place {
                client,
                path,
                scope,
            });
        }
    }
    places
}

/// The directory that a file of a project speaks for.
pub(crate) fn project_of(path: &Path) -> &Path {
    let directory = path.parent().unwrap_or(Path::new(""));
    let is_hidden = directory.file_name().is_some_and(|name| {
        [".cursor", ".vscode", ".codex"]
            .iter()
            .any(|own| name == *own)
    });
    match directory.parent() {
        Some(parent) if is_hidden => parent,
        _ => directory,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surroundings::Variables;

    fn surroundings(platform: Platform) -> Surroundings {
        Surroundings {
            platform,
            home: "/home/ada".into(),
            directory: "/srv/site".into(),
            config_home: None,
            app_data: Some("/roaming".into()),
            codex_home: None,
            claude_config: None,
            variables: Variables::none(),
        }
    }

    fn paths(client: Client, surroundings: &Surroundings) -> Vec<String> {
        places(client, surroundings)
            .into_iter()
            .map(|place| place.path.to_str().unwrap().replace('\\', "/"))
            .collect()
    }

    #[test]
    fn claude_desktop_is_where_the_platform_keeps_settings() {
        let at = |platform| paths(Client::ClaudeDesktop, &surroundings(platform));
        let file = "Claude/claude_desktop_config.json";
        assert_eq!(at(Platform::Linux), [format!("/home/ada/.config/{file}")]);
        assert_eq!(
            at(Platform::MacOs),
            [format!("/home/ada/Library/Application Support/{file}")]
        );
        assert_eq!(at(Platform::Windows), [format!("/roaming/{file}")]);
    }

    #[test]
    fn vs_code_has_both_files_in_every_edition_and_in_the_project() {
        let at = |platform| paths(Client::VsCode, &surroundings(platform));
        let linux = at(Platform::Linux);
        for wanted in [
            "/home/ada/.config/Code/User/mcp.json",
            "/home/ada/.config/Code/User/settings.json",
            "/home/ada/.config/Code - Insiders/User/mcp.json",
            "/home/ada/.vscode-server/data/User/mcp.json",
            "/srv/site/.vscode/mcp.json",
            "/srv/site/.vscode/settings.json",
        ] {
            assert!(linux.iter().any(|path| path == wanted), "{wanted}");
        }
        let first = "/home/ada/Library/Application Support/Code/User/mcp.json";
        assert_eq!(at(Platform::MacOs)[0], first);
        assert_eq!(at(Platform::Windows)[0], "/roaming/Code/User/mcp.json");
    }

    #[test]
    fn the_rest_are_in_the_home_directory_and_in_the_project_on_every_platform() {
        for platform in [Platform::Linux, Platform::MacOs, Platform::Windows] {
            let at = |client| paths(client, &surroundings(platform));
            assert_eq!(
                at(Client::ClaudeCode),
                ["/home/ada/.claude.json", "/srv/site/.mcp.json"]
            );
            assert_eq!(
                at(Client::Cursor),
                ["/home/ada/.cursor/mcp.json", "/srv/site/.cursor/mcp.json"]
            );
            assert_eq!(
                at(Client::Codex),
                [
                    "/home/ada/.codex/config.toml",
                    "/srv/site/.codex/config.toml"
                ]
            );
            assert_eq!(
                at(Client::Windsurf),
                [
                    "/home/ada/.codeium/windsurf/mcp_config.json",
                    "/home/ada/.codeium/windsurf-next/mcp_config.json",
                    "/home/ada/.codeium/mcp_config.json"
                ]
            );
        }
    }

    #[test]
    fn variables_move_the_directories_of_those_that_read_them() {
        let moved = Surroundings {
            config_home: Some("/settings".into()),
            codex_home: Some("/codex".into()),
            claude_config: Some("/claude".into()),
            ..surroundings(Platform::Linux)
        };
        assert!(paths(Client::ClaudeDesktop, &moved)[0].starts_with("/settings/Claude/"));
        assert_eq!(paths(Client::Codex, &moved)[0], "/codex/config.toml");
        assert_eq!(paths(Client::ClaudeCode, &moved)[0], "/claude/.claude.json");
    }

    #[test]
    fn in_the_home_directory_a_file_is_named_once() {
        let at_home = Surroundings {
            directory: "/home/ada".into(),
            ..surroundings(Platform::Linux)
        };
        let cursor = places(Client::Cursor, &at_home);
        assert_eq!(cursor.len(), 1);
        assert_eq!(cursor[0].scope, Scope::User);
    }

    #[test]
    fn a_file_in_a_hidden_directory_speaks_for_the_one_around_it() {
        assert_eq!(project_of(Path::new("/p/.mcp.json")), Path::new("/p"));
        assert_eq!(
            project_of(Path::new("/p/.cursor/mcp.json")),
            Path::new("/p")
        );
        assert_eq!(project_of(Path::new("mcp.json")), Path::new(""));
    }
}
