//! The clients whose files are read.

/// Whose file it is, which decides what its variables and some of its fields mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    VsCode,
    Codex,
    Windsurf,
    /// A file that was named and looks like nobody's in particular.
    Unknown,
}

impl Client {
    /// All that have places of their own, in the order in which they are looked at.
    pub(crate) const ALL: [Self; 6] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::VsCode,
        Self::Codex,
        Self::Windsurf,
    ];

    /// What people call it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
            Self::Windsurf => "Windsurf",
            Self::Unknown => "unknown client",
        }
    }
}

/// Whether a file speaks for one project or for everything that its user does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    User,
    Project,
}
