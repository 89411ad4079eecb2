//! The directory that holds everything we keep.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A state directory that exists and that only its owner can enter.
#[derive(Clone, Debug)]
pub struct StateDirectory {
    path: PathBuf,
}

/// Why a state directory cannot be used.
#[derive(Debug, Error)]
#[error(
    "cannot use the state directory {}: {reason}; set OPENCLAW_STATE_DIR to a directory of yours",
    path.display()
)]
pub struct StateDirectoryError {
    /// The directory.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
    /// What the system said, where it said something.
    pub source: Option<io::Error>,
}

impl StateDirectory {
    /// Creates the directory where it is missing, or closes it to other users where it is ours.
    ///
    /// A directory of somebody else, or one that is made to be shared, is refused and left as it
    /// is; root may use a directory that its owner has closed. Another program's files in it are
    /// left as they are.
    pub fn open(path: &Path) -> Result<Self, StateDirectoryError> {
        let failed = |reason: String, source: Option<io::Error>| StateDirectoryError {
            path: path.to_owned(),
            reason,
            source,
        };
        create_private(path)
            .and_then(|()| close_to_others(path))
            .map_err(|error| failed(error.to_string(), Some(error)))?;
        // Rights on paper are not enough: the file system may be read-only or full.
        tempfile::Builder::new()
            .prefix(".openclaw-")
            .tempfile_in(path)
            .map_err(|error| {
                failed(
                    format!("it is not writable ({})", error.kind()),
                    Some(error),
                )
            })?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Where the directory is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in it, its parent directory made for the owner alone.
    pub fn file(&self, relative: &str) -> Result<PathBuf, StateDirectoryError> {
        let path = self.path.join(relative);
        if let Some(parent) = path.parent() {
            create_private(parent).map_err(|source| StateDirectoryError {
                path: parent.to_owned(),
                reason: source.to_string(),
                source: Some(source),
            })?;
        }
        Ok(path)
    }
}

/// Creates a directory, and those above it, for its owner alone.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

/// Closes a directory of ours, and refuses one that is not ours to close.
#[cfg(unix)]
fn close_to_others(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    // Opened, so that what is changed is what was looked at.
    let directory = fs::File::open(path)?;
    let metadata = directory.metadata()?;
    let us = rustix::process::geteuid().as_raw();
    match judge(metadata.uid(), us, metadata.mode()) {
        Verdict::Closed => Ok(()),
        Verdict::Ours if is_state_directory(path) => {
            directory.set_permissions(fs::Permissions::from_mode(0o700))
        }
        Verdict::Ours => {
            let reason = "it holds other things and is open to other users: close it with \
                          `chmod 700`, or choose another one";
            Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
        }
        Verdict::Refused(reason) => Err(io::Error::new(io::ErrorKind::PermissionDenied, reason)),
    }
}

/// Whether a directory is there for us: an empty one, or one with files of OpenClaw.
///
/// Somebody who names the home directory must not have it closed to everybody else.
#[cfg(unix)]
fn is_state_directory(path: &Path) -> bool {
    let known = ["openclaw.json", "mcp", "logs/openclaw.log"];
    known.iter().any(|name| path.join(name).exists())
        || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// What is to be done with a directory that exists.
#[cfg(unix)]
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// It can be used as it is.
    Closed,
    /// It is ours, and others can look into it.
    Ours,
    /// It is somebody else's, or everybody's.
    Refused(String),
}

#[cfg(unix)]
fn judge(owner: u32, us: u32, mode: u32) -> Verdict {
    const STICKY: u32 = 0o1000;
    const WRITABLE_BY_ALL: u32 = 0o002;
    const OTHERS: u32 = 0o077;
    let mode = mode & 0o7777;
    let is_closed = mode & OTHERS == 0;
    // `/tmp` is root's, and root could close it: for everybody else.
    if mode & (STICKY | WRITABLE_BY_ALL) != 0 {
        return Verdict::Refused(format!("it is shared with other users (mode {mode:04o})"));
    }
    match (owner == us, is_closed) {
        (true, true) => Verdict::Closed,
        (true, false) => Verdict::Ours,
        // Root acts for the owner, but does not take a directory away from those who use it.
        (false, true) if us == 0 => Verdict::Closed,
        (false, _) => {
            Verdict::Refused(format!("it belongs to user {owner}, and you are user {us}"))
        }
    }
}

#[cfg(not(unix))]
fn close_to_others(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_its_place_is_a_clear_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        fs::write(&path, "").unwrap();
        let error = StateDirectory::open(&path).unwrap_err().to_string();
        assert!(error.contains("OPENCLAW_STATE_DIR"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_with_other_things_is_not_closed_to_those_who_use_it() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("home");
        fs::create_dir_all(home.join("public_html")).unwrap();
        fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).unwrap();
        let error = StateDirectory::open(&home).unwrap_err().to_string();
        assert!(error.contains("chmod 700"), "{error}");
        let mode = fs::metadata(&home).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o755);
    }

    #[cfg(unix)]
    #[test]
    fn it_is_closed_to_other_users_and_foreign_files_keep_their_mode() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/state");
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let foreign = path.join("openclaw.json");
        fs::write(&foreign, "{}").unwrap();
        fs::set_permissions(&foreign, fs::Permissions::from_mode(0o644)).unwrap();
        let state = StateDirectory::open(&path).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o700);
        assert_eq!(mode(&foreign), 0o644);
        let file = state.file("mcp/keys/a.json").unwrap();
        assert_eq!(mode(file.parent().unwrap()), 0o700);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_shared_directory_is_refused_and_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        for mode in [0o1777, 0o777, 0o1700, 0o702] {
            fs::set_permissions(directory.path(), fs::Permissions::from_mode(mode)).unwrap();
            let error = StateDirectory::open(directory.path()).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("shared with other users"), "{text}");
            assert!(text.contains(&format!("mode {mode:04o}")), "{text}");
            assert!(text.contains("OPENCLAW_STATE_DIR"), "{text}");
            let after = fs::metadata(directory.path()).unwrap().permissions().mode();
            assert_eq!(after & 0o7777, mode);
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_a_directory_of_ours_is_closed_and_root_uses_a_closed_one_as_it_is() {
        let refused = |owner, us, mode| matches!(judge(owner, us, mode), Verdict::Refused(_));
        for us in [0, 1000] {
            assert_eq!(judge(us, us, 0o40_700), Verdict::Closed);
            assert_eq!(judge(us, us, 0o40_755), Verdict::Ours);
            assert_eq!(judge(us, us, 0o42_770), Verdict::Ours);
            assert!(refused(us, us, 0o41_777));
            assert!(refused(1001, us, 0o40_755));
            assert!(refused(1001, us, 0o40_710));
        }
        assert_eq!(judge(1001, 0, 0o40_700), Verdict::Closed);
        assert!(refused(1001, 1000, 0o40_700));
        assert!(refused(0, 1000, 0o40_700));
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_of_somebody_else_is_left_as_it_is() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let directory = tempfile::tempdir().unwrap();
        let is_root = rustix::process::geteuid().is_root();
        // Only root can make a directory that is somebody else's; for others `/` is one.
        let path = if is_root {
            std::os::unix::fs::chown(directory.path(), Some(12_345), None).unwrap();
            fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
            directory.path()
        } else {
            Path::new("/")
        };
        let before = fs::metadata(path).unwrap();
        let error = StateDirectory::open(path).unwrap_err().to_string();
        assert!(error.contains("it belongs to user"), "{error}");
        assert_eq!(fs::metadata(path).unwrap().mode(), before.mode());
        if is_root {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
            StateDirectory::open(path).unwrap();
            let after = fs::metadata(path).unwrap();
            assert_eq!((after.uid(), after.mode() & 0o7777), (12_345, 0o700));
        }
    }
}
