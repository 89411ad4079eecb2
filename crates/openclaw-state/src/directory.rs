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
    /// Creates the directory where it is missing and closes it to other users.
    ///
    /// Another program's files in it are left as they are.
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

#[cfg(unix)]
fn close_to_others(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let metadata = fs::metadata(path)?;
    let (owner, us) = (metadata.uid(), rustix::process::geteuid().as_raw());
    if owner != us && us != 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("it belongs to user {owner}, and you are user {us}"),
        ));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
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
}
