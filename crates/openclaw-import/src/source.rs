//! What can be imported from.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use thiserror::Error;

use crate::client::Client;

/// What servers are imported from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Every client of this list that has files here.
    #[default]
    All,
    /// Claude Desktop.
    Claude,
    /// Claude Code: of the user, and of the current project.
    ClaudeCode,
    /// Cursor: of the user, and of the current project.
    Cursor,
    /// Visual Studio Code: of the user, and of the current project.
    VsCode,
    /// Codex: of the user, and of the current project.
    Codex,
    /// Windsurf.
    Windsurf,
    /// One file, whose kind is recognised by its name and what stands in it.
    Path(PathBuf),
}

/// Why a text names no source.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SourceError {
    /// There is nothing.
    #[error("expected one of {}, or the path of a file", Source::NAMES.join(", "))]
    Empty,
}

impl Source {
    /// The words that name clients; any other text is a path.
    pub const NAMES: [&'static str; 6] = [
        "claude",
        "claude-code",
        "cursor",
        "vscode",
        "codex",
        "windsurf",
    ];

    /// The client that is meant, where it is one.
    pub(crate) fn client(&self) -> Option<Client> {
        match self {
            Self::All | Self::Path(_) => None,
            Self::Claude => Some(Client::ClaudeDesktop),
            Self::ClaudeCode => Some(Client::ClaudeCode),
            Self::Cursor => Some(Client::Cursor),
            Self::VsCode => Some(Client::VsCode),
            Self::Codex => Some(Client::Codex),
            Self::Windsurf => Some(Client::Windsurf),
        }
    }
}

impl FromStr for Source {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "" => return Err(SourceError::Empty),
            "claude" => Self::Claude,
            "claude-code" => Self::ClaudeCode,
            "cursor" => Self::Cursor,
            "vscode" => Self::VsCode,
            "codex" => Self::Codex,
            "windsurf" => Self::Windsurf,
            path => Self::Path(path.into()),
        })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => formatter.write_str("all clients"),
            Self::Claude => formatter.write_str("claude"),
            Self::ClaudeCode => formatter.write_str("claude-code"),
            Self::Cursor => formatter.write_str("cursor"),
            Self::VsCode => formatter.write_str("vscode"),
            Self::Codex => formatter.write_str("codex"),
            Self::Windsurf => formatter.write_str("windsurf"),
            Self::Path(path) => path.display().fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_and_written_the_same_and_the_rest_are_paths() {
        for name in Source::NAMES {
            let source: Source = name.parse().unwrap();
            assert!(source.client().is_some(), "{name}");
            assert_eq!(source.to_string(), name);
        }
        assert_eq!(
            "./mcp.json".parse(),
            Ok(Source::Path(PathBuf::from("./mcp.json")))
        );
        assert_eq!("".parse::<Source>(), Err(SourceError::Empty));
        assert_eq!(
            SourceError::Empty.to_string(),
            "expected one of claude, claude-code, cursor, vscode, codex, windsurf, or the path of \
             a file"
        );
    }
}
