//! Writing a file whole or not at all.

mod target;

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use thiserror::Error;

use target::Target;

/// Who may read a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Only the owner, whatever the file allowed before.
    Private,
    /// As before where the file exists; only the owner where it is new.
    AsBefore,
}

/// Why a file was not written as it should be.
///
/// The old contents are untouched, unless [`WriteError::is_replaced`] says otherwise; a mixture of
/// old and new is never left.
#[derive(Debug, Error)]
#[error("{}: {source}", outcome(path, source))]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl WriteError {
    /// Whether the new contents are in place all the same.
    ///
    /// Then only the directory could not be brought to disk, and a power cut may still bring back
    /// the old file.
    pub fn is_replaced(&self) -> bool {
        is_unconfirmed(&self.source)
    }
}

/// What the system said about a directory in which a file had been replaced already.
#[derive(Debug, Error)]
#[error(transparent)]
struct Unconfirmed(io::Error);

fn is_unconfirmed(error: &io::Error) -> bool {
    matches!(error.get_ref(), Some(inner) if inner.is::<Unconfirmed>())
}

fn outcome(path: &Path, source: &io::Error) -> String {
    if is_unconfirmed(source) {
        format!(
            "{} has its new contents, but a power cut may still bring back the old ones",
            path.display()
        )
    } else {
        format!("cannot write {}", path.display())
    }
}

/// Replaces the contents of `path`, or creates it.
///
/// The bytes are on disk before the name points to them, so that a crash at any moment leaves the
/// old file or the new one. A symbolic link stays a link: the file it leads to is replaced, or
/// created where the link leads to nothing.
pub fn replace(path: &Path, contents: &[u8], access: Access) -> Result<(), WriteError> {
    write(path, contents, access, sync_directory).map_err(|source| WriteError {
        path: path.to_owned(),
        source,
    })
}

/// Makes sure that nothing about `path` itself forbids to [`replace`] it, and changes nothing.
///
/// A file that is read-only gives the error that replacing it would give. This is for callers that
/// have other things to do first; the disk may still be full when it comes to writing.
pub fn check_replaceable(path: &Path) -> Result<(), WriteError> {
    match Target::find(path) {
        Ok(_) => Ok(()),
        Err(source) => Err(WriteError {
            path: path.to_owned(),
            source,
        }),
    }
}

/// Does what [`replace`] does with as many bytes, short of replacing anything.
///
/// This is for callers to whom something happens in between that can't be taken back: what would
/// keep the file from being written should be known before. The disk may still fill up meanwhile.
pub fn rehearse(path: &Path, size: usize) -> Result<(), WriteError> {
    let rehearsed = Target::find(path).and_then(|target| {
        let mut temporary = temporary_beside(&target)?;
        // Not brought to disk: room is set aside when it is written.
        io::copy(
            &mut io::repeat(0).take(size as u64),
            temporary.as_file_mut(),
        )
        .map(drop)
    });
    rehearsed.map_err(|source| WriteError {
        path: path.to_owned(),
        source,
    })
}

fn write(
    path: &Path,
    contents: &[u8],
    access: Access,
    confirm: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let target = Target::find(path)?;
    let directory = target.directory();
    let mut temporary = temporary_beside(&target)?;
    temporary.write_all(contents)?;
    if let (Access::AsBefore, Some(before)) = (access, &target.before) {
        keep_owner_and_mode(temporary.as_file(), before)?;
    }
    temporary.as_file().sync_all()?;
    temporary
        .persist(&target.path)
        .map_err(|error| error.error)?;
    confirm(directory).map_err(|error| io::Error::new(error.kind(), Unconfirmed(error)))
}

/// A file in the same directory. It is created for its owner alone.
fn temporary_beside(target: &Target) -> io::Result<NamedTempFile> {
    let directory = target.directory();
    tempfile::Builder::new()
        .prefix(".openclaw-")
        .tempfile_in(directory)
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::new(
                io::ErrorKind::NotFound,
                format!("the directory {} does not exist", directory.display()),
            ),
            _ => error,
        })
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
mod tests;
