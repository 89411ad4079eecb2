//! Finding the file that a path leads to, and whether it may be replaced.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How many symbolic links are followed at most: as many as Linux follows.
const MOST_LINKS: usize = 40;

/// A file that may be replaced, or created where there is none.
pub(super) struct Target {
    /// Where the file is, or will be; not a symbolic link.
    pub(super) path: PathBuf,
    /// What is known of the file that is there.
    pub(super) before: Option<fs::Metadata>,
}

impl Target {
    /// Follows `path` to its end and looks at what is there.
    pub(super) fn find(path: &Path) -> io::Result<Self> {
        let path = match fs::canonicalize(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => follow(path)?,
            found => found?,
        };
        let before = match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => Some(found?),
        };
        before.as_ref().map_or(Ok(()), check)?;
        Ok(Self { path, before })
    }

    /// The directory of the file.
    pub(super) fn directory(&self) -> &Path {
        directory_of(&self.path)
    }
}

fn check(before: &fs::Metadata) -> io::Result<()> {
    // A rename would put a file in the place of a device: a link to `/dev/null` is a wish that
    // nothing be kept, not that `/dev/null` be replaced.
    if !before.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is a directory, a pipe or a device, not a file",
        ));
    }
    // A rename needs no right to write the file itself, so a read-only file would be replaced
    // against the will of whoever protected it.
    if before.permissions().readonly() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the file is read-only",
        ));
    }
    Ok(())
}

/// Follows links that lead to nothing, to the place where the last one wants its file.
pub(super) fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..=MOST_LINKS {
        match fs::symlink_metadata(&target) {
            Ok(metadata) if metadata.is_symlink() => {
                let next = fs::read_link(&target)?;
                target = directory_of(&target).join(next);
            }
            Ok(_) => return Ok(target),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if target != path {
                    check_directory(&target)?;
                }
                return Ok(target);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!(
        "more than {MOST_LINKS} symbolic links lead from one to the next"
    )))
}

/// Makes sure that the file which a link wants can be created.
fn check_directory(target: &Path) -> io::Result<()> {
    let directory = directory_of(target);
    if directory.is_dir() {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::NotFound,
        format!(
            "the symbolic link leads to {}, and the directory {} does not exist",
            target.display(),
            directory.display()
        ),
    ))
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
