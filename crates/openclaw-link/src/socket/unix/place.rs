//! Where a socket is, in words that the kernel takes: an address has 108 bytes, one of which ends it.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use std::os::fd::{AsRawFd, OwnedFd};

/// How many bytes of a path fit into an address: 104 with the one that ends it, where it is fewest.
#[cfg(target_os = "linux")]
const LONGEST: usize = 107;
#[cfg(not(target_os = "linux"))]
const LONGEST: usize = 103;

/// A path to a socket that fits into an address, for as long as this is there.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    /// What the path leads through, if it is too long itself.
    #[cfg(target_os = "linux")]
    _directory: Option<OwnedFd>,
}

impl Place {
    /// The place of a name in a directory.
    pub(super) fn of(directory: &Path, name: &str) -> io::Result<Self> {
        let path = directory.join(name);
        if path.as_os_str().as_bytes().len() <= LONGEST {
            return Ok(Self {
                path,
                #[cfg(target_os = "linux")]
                _directory: None,
            });
        }
        Self::through(directory, name)
    }

    #[cfg(target_os = "linux")]
    fn through(directory: &Path, name: &str) -> io::Result<Self> {
        use rustix::fs::{Mode, OFlags};

        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(directory, flags, Mode::empty())?;
        let path = format!("/proc/self/fd/{}/{name}", directory.as_raw_fd());
        Ok(Self {
            path: PathBuf::from(path),
            _directory: Some(directory),
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn through(directory: &Path, _name: &str) -> io::Result<Self> {
        let message = format!(
            "the path of the state directory is too long for a socket: {}",
            directory.display()
        );
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }

    /// The path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_path_is_taken_as_it_is() {
        let place = Place::of(Path::new("/state"), "gateway.sock").unwrap();
        assert_eq!(place.path(), Path::new("/state/gateway.sock"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_path_that_is_too_long_by_one_byte_leads_through_its_directory() {
        let root = tempfile::tempdir().unwrap();
        let used = root.path().as_os_str().len() + "//gateway.sock".len();
        for (length, is_direct) in [(LONGEST - used, true), (LONGEST - used + 1, false)] {
            let directory = root.path().join("d".repeat(length));
            std::fs::create_dir(&directory).unwrap();
            let place = Place::of(&directory, "gateway.sock").unwrap();
            assert_eq!(place.path().starts_with(&directory), is_direct);
            assert!(place.path().as_os_str().len() <= LONGEST);
        }
    }
}
