//! Where skills are looked for, and in which order.

use std::path::{Path, PathBuf};

use openclaw_config::{Environment, SkillsSettings};

/// Where a skill comes from. Of two with one name, that of the first place counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// `skills` or `.agents/skills` in the workspace of the agent.
    Workspace,
    /// `.agents/skills` in the user's home directory.
    User,
    /// `skills` in the state directory.
    State,
    /// A directory of `skills.load.extraDirs`.
    Extra,
    /// The program itself.
    Bundled,
}

impl Origin {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::User => "user",
            Self::State => "state",
            Self::Extra => "extra",
            Self::Bundled => "bundled",
        }
    }
}

/// A directory in which skills are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    pub(crate) origin: Origin,
    pub(crate) path: PathBuf,
    /// The directory that it must not lead out of: what is in a workspace may be anybody's.
    pub(crate) within: Option<PathBuf>,
}

/// All directories, in their order.
pub(crate) fn roots(
    workspace: Option<&Path>,
    environment: &Environment,
    state: &Path,
    settings: Option<&SkillsSettings>,
) -> Vec<Root> {
    let mut roots = Vec::new();
    if let Some(workspace) = workspace {
        for inside in ["skills", ".agents/skills"] {
            roots.push(Root {
                origin: Origin::Workspace,
                path: workspace.join(inside),
                within: Some(workspace.to_owned()),
            });
        }
    }
    let mut add = |origin, path| {
        roots.push(Root {
            origin,
            path,
            within: None,
        });
    };
    if let Some(home) = environment.home() {
        add(Origin::User, home.join(".agents/skills"));
    }
    add(Origin::State, state.join("skills"));
    for path in settings.into_iter().flat_map(|it| &it.extra_directories) {
        add(Origin::Extra, path.clone());
    }
    roots
}
