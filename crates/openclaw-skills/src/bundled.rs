//! The skills that are part of the program.

use std::path::{Path, PathBuf};

use crate::walk::FILE;

/// A skill that is part of the program.
pub(crate) struct Bundled {
    /// The name of its directory.
    pub(crate) directory: &'static str,
    /// Its file, as it stands in the repository.
    pub(crate) text: &'static str,
}

impl Bundled {
    /// Its file in the repository.
    pub(crate) fn path(&self) -> PathBuf {
        Path::new("skills").join(self.directory).join(FILE)
    }
}

/// All of them.
pub(crate) const ALL: [Bundled; 1] = [Bundled {
    directory: "mcp",
    text: include_str!("../../../skills/mcp/SKILL.md"),
}];
