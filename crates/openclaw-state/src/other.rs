//! The TypeScript OpenClaw, which may live in the same directory.

use std::path::{Path, PathBuf};

/// Files that only the TypeScript OpenClaw makes.
const MARKS: &[&str] = &[
    "state/openclaw.sqlite",
    "agents/main/agent/openclaw-agent.sqlite",
    "agents/main/sessions/sessions.json",
    "credentials/oauth.json",
    "exec-approvals.json",
    "exec-approvals.sock",
    "update-check.json",
];

/// Looks for traces of the TypeScript OpenClaw, and returns the first that is found.
///
/// Its files are its own: nothing here reads or changes them.
pub fn other_openclaw(state: &Path) -> Option<PathBuf> {
    MARKS
        .iter()
        .map(|mark| state.join(mark))
        .find(|path| path.symlink_metadata().is_ok())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn its_database_gives_it_away_and_our_own_files_do_not() {
        let directory = tempfile::tempdir().unwrap();
        for entry in crate::layout::entries() {
            // What stands in angle brackets is no file name on some systems.
            let name = entry.path.replace(['<', '>'], "");
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        assert_eq!(other_openclaw(directory.path()), None);
        let database = directory.path().join("state/openclaw.sqlite");
        fs::create_dir_all(database.parent().unwrap()).unwrap();
        fs::write(&database, "").unwrap();
        assert_eq!(other_openclaw(directory.path()), Some(database));
    }
}
