//! `openclaw mcp import`

use clap::Args;

use crate::cli::Json;

/// Whose servers are taken over, and how.
#[derive(Debug, Args)]
#[command(after_help = "Without `--from`, every client that has servers here is looked at.")]
pub(crate) struct ImportOptions {
    /// The client: claude, claude-code, cursor, vscode, codex or windsurf; or the path of a file
    #[arg(long, value_name = "CLIENT|PATH")]
    pub(crate) from: Option<String>,
    /// Shows what would be taken over and writes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Replaces servers of the same name
    #[arg(long)]
    pub(crate) force: bool,
    /// Writes credentials to the configuration, not to the keyring
    #[arg(long)]
    pub(crate) no_keyring: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}
