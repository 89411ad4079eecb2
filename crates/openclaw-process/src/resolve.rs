//! Finding a program before it is started, so that a missing one is an immediate, clear error.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a program can't be started.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ResolveError {
    /// No directory of the `PATH` has it.
    #[error("cannot find the program `{program}` in the PATH: {}", searched.to_string_lossy())]
    NotOnPath {
        /// The program.
        program: String,
        /// The `PATH` that was searched.
        searched: OsString,
    },
    /// There is no `PATH` to search.
    #[error("cannot find the program `{program}`, because there is no PATH to search")]
    NoPath {
        /// The program.
        program: String,
    },
    /// A path leads to nothing.
    #[error("there is no program at {}", .0.display())]
    Missing(PathBuf),
    /// A path leads to something that can't be started.
    #[error("{} is not a program that can be started", .0.display())]
    NotExecutable(PathBuf),
}

/// Finds a program: by its path, relative to `directory`, or by its name in the `PATH`.
///
/// On Windows the endings of `PATHEXT` are tried as well.
pub fn find_program(
    program: &str,
    search: Option<&OsStr>,
    extensions: Option<&OsStr>,
    directory: &Path,
) -> Result<PathBuf, ResolveError> {
    if has_separator(program) {
        let path = directory.join(program);
        return with_extensions(&path, extensions)
            .into_iter()
            .find(|candidate| is_executable(candidate))
            .ok_or_else(|| {
                if path.exists() {
                    ResolveError::NotExecutable(path)
                } else {
                    ResolveError::Missing(path)
                }
            });
    }
    let Some(search) = search.filter(|search| !search.is_empty()) else {
        return Err(ResolveError::NoPath {
            program: program.to_owned(),
        });
    };
    std::env::split_paths(search)
        // An empty entry means the current directory to some shells, and trouble to everybody.
        .filter(|entry| !entry.as_os_str().is_empty())
        .flat_map(|entry| with_extensions(&directory.join(entry).join(program), extensions))
        .find(|candidate| is_executable(candidate))
        .ok_or_else(|| ResolveError::NotOnPath {
            program: program.to_owned(),
            searched: search.to_owned(),
        })
}

fn has_separator(program: &str) -> bool {
    program.contains('/') || (cfg!(windows) && program.contains('\\'))
}

/// The path itself and, on Windows, the path with each ending of `PATHEXT`.
fn with_extensions(path: &Path, extensions: Option<&OsStr>) -> Vec<PathBuf> {
    let mut candidates = vec![path.to_owned()];
    if let Some(extensions) = extensions
        && cfg!(windows)
        && path.extension().is_none()
    {
        let extensions = extensions.to_string_lossy();
        for ending in extensions.split(';').filter(|ending| !ending.is_empty()) {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            candidates.push(PathBuf::from(name));
        }
    }
    candidates
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
        && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn program(path: &Path, mode: u32) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_first_directory_that_has_a_startable_one_wins() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        program(&root.join("a/tool"), 0o644);
        program(&root.join("b/tool"), 0o755);
        program(&root.join("c/tool"), 0o755);
        fs::create_dir_all(root.join("d/tool")).unwrap();
        let search =
            std::env::join_paths(["d", "a", "b", "c"].map(|name| root.join(name))).unwrap();
        let found = find_program("tool", Some(&search), None, Path::new("/")).unwrap();
        assert_eq!(found, root.join("b/tool"));
    }

    #[test]
    fn a_missing_program_shows_where_it_was_looked_for() {
        let error = find_program("nonesuch", Some("/x:/y".as_ref()), None, Path::new("/"));
        assert_eq!(
            error.unwrap_err().to_string(),
            "cannot find the program `nonesuch` in the PATH: /x:/y"
        );
        let error = find_program("nonesuch", None, None, Path::new("/")).unwrap_err();
        assert!(error.to_string().contains("no PATH"), "{error}");
    }

    #[test]
    fn paths_are_relative_to_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        program(&directory.path().join("bin/tool"), 0o755);
        program(&directory.path().join("bin/text"), 0o644);
        let find = |name| find_program(name, None, None, directory.path());
        assert_eq!(find("bin/tool").unwrap(), directory.path().join("bin/tool"));
        assert!(matches!(find("bin/none"), Err(ResolveError::Missing(_))));
        assert!(matches!(
            find("bin/text"),
            Err(ResolveError::NotExecutable(_))
        ));
        assert!(matches!(find("./bin"), Err(ResolveError::NotExecutable(_))));
    }
}
