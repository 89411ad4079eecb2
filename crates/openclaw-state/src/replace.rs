//! Writing a file whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Who may read a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Only the owner, whatever the file allowed before.
    Private,
    /// As before where the file exists; only the owner where it is new.
    AsBefore,
}

/// Why a file could not be written; the old one is untouched.
#[derive(Debug, Error)]
#[error("cannot write {}: {source}", path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// Replaces the contents of `path`, or creates it.
///
/// The bytes are on disk before the name points to them, so that a crash at any moment leaves the
/// old file or the new one. A symbolic link stays a link: the file it leads to is replaced.
pub fn replace(path: &Path, contents: &[u8], access: Access) -> Result<(), WriteError> {
    write(path, contents, access).map_err(|source| WriteError {
        path: path.to_owned(),
        source,
    })
}

fn write(path: &Path, contents: &[u8], access: Access) -> io::Result<()> {
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let before = match fs::metadata(&target) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // A rename needs no right to write the file itself, so a read-only file would be replaced
    // against the will of whoever protected it.
    if before
        .as_ref()
        .is_some_and(|metadata| metadata.permissions().readonly())
    {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the file is read-only",
        ));
    }
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // A temporary file is created for its owner alone.
    let mut temporary = tempfile::Builder::new()
        .prefix(".openclaw-")
        .tempfile_in(directory)?;
    temporary.write_all(contents)?;
    if let (Access::AsBefore, Some(before)) = (access, &before) {
        keep_owner_and_mode(temporary.as_file(), before)?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map_err(|error| error.error)?;
    sync_directory(directory)
}

#[cfg(unix)]
fn keep_owner_and_mode(file: &File, before: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let now = file.metadata()?;
    if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
        // Only the superuser can give a file away. Where it can't be done the file becomes ours,
        // as it would with any editor that saves by renaming.
        let _ = fchown(file, Some(before.uid()), Some(before.gid()));
    }
    file.set_permissions(before.permissions())
}

#[cfg(not(unix))]
fn keep_owner_and_mode(_file: &File, _before: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// Makes a rename in `directory` survive a power cut.
#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(not(unix))]
fn sync_directory(_directory: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_new_file_is_private_and_an_old_one_keeps_its_mode() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        replace(&path, b"one", Access::AsBefore).unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        replace(&path, b"two", Access::AsBefore).unwrap();
        assert_eq!(
            (mode(&path), fs::read(&path).unwrap()),
            (0o644, b"two".to_vec())
        );
        replace(&path, b"three", Access::Private).unwrap();
        assert_eq!(mode(&path), 0o600);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_symbolic_link_stays_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let (target, link) = (
            directory.path().join("target"),
            directory.path().join("link"),
        );
        fs::write(&target, "old").unwrap();
        symlink("target", &link).unwrap();
        replace(&link, b"new", Access::AsBefore).unwrap();
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("target"));
        assert_eq!(fs::read(&target).unwrap(), b"new");
    }

    #[test]
    fn a_read_only_file_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
        let error = replace(&path, b"new", Access::Private).unwrap_err();
        assert!(error.to_string().ends_with("the file is read-only"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
