//! Reading a file that someone else may have put there: bounded, and never waiting.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a file could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file does not exist.
    #[error("cannot find {}", .0.display())]
    Missing(PathBuf),
    /// The path names a directory, a pipe or a device.
    #[error("{} is {kind}, not a file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What is there, with its article.
        kind: &'static str,
    },
    /// The file is larger than its kind may be.
    #[error("{} is larger than the limit of {}", path.display(), human_size(*limit))]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// The system refused.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Reads a regular file of at most `limit` bytes.
///
/// Pipes, devices and directories are refused, since reading them may wait for ever or never end.
pub fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    let too_large = || ReadError::TooLarge {
        path: path.to_owned(),
        limit,
    };
    let (file, length) = open_regular(path)?;
    if length > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 1);
    // One byte more than the limit tells a file that grew meanwhile.
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| unreadable(path, source))?;
    if bytes.len() as u64 > limit {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Opens a regular file, and says how long it is.
pub(crate) fn open_regular(path: &Path) -> Result<(File, u64), ReadError> {
    let failed = |source| unreadable(path, source);
    // Looked at before it is opened: opening a pipe waits for its writer, opening a device may
    // have effects, and some systems cannot open a directory at all.
    check_regular(path, &fs::metadata(path).map_err(failed)?)?;
    let file = open(path).map_err(failed)?;
    // Looked at again, because the path may name something else by now.
    let metadata = file.metadata().map_err(failed)?;
    check_regular(path, &metadata)?;
    Ok((file, metadata.len()))
}

fn check_regular(path: &Path, metadata: &fs::Metadata) -> Result<(), ReadError> {
    if metadata.is_file() {
        return Ok(());
    }
    let kind = if metadata.is_dir() {
        "a directory"
    } else {
        "a pipe or a device"
    };
    Err(ReadError::NotAFile {
        path: path.to_owned(),
        kind,
    })
}

/// Why the system did not let us read a file.
pub(crate) fn unreadable(path: &Path, source: io::Error) -> ReadError {
    if source.kind() == io::ErrorKind::NotFound {
        ReadError::Missing(path.to_owned())
    } else {
        ReadError::Io {
            path: path.to_owned(),
            source,
        }
    }
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let non_blocking = rustix::fs::OFlags::NONBLOCK.bits();
    OpenOptions::new()
        .read(true)
        .custom_flags(non_blocking.cast_signed())
        .open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

/// A size as people say it: `2 MB`, `640 KB`, `17 bytes`.
pub(crate) fn human_size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_within_its_limit_is_read_and_one_byte_more_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, b"12345").unwrap();
        assert_eq!(read_bounded(&path, 5).unwrap(), b"12345");
        let error = read_bounded(&path, 4).unwrap_err();
        assert!(error.to_string().contains("limit of 4 bytes"), "{error}");
    }

    #[test]
    fn a_sparse_file_of_100_megabytes_is_refused_without_being_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("large");
        File::create(&path).unwrap().set_len(100_000_000).unwrap();
        let error = read_bounded(&path, 8_000_000).unwrap_err();
        assert!(error.to_string().contains("limit of 8 MB"), "{error}");
    }

    #[test]
    fn directories_and_missing_files_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let error = read_bounded(directory.path(), 5).unwrap_err();
        assert!(error.to_string().ends_with("is a directory, not a file"));
        let error = read_bounded(&directory.path().join("none"), 5).unwrap_err();
        assert!(matches!(error, ReadError::Missing(_)));
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_without_a_writer_is_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        let error = read_bounded(&path, 5).unwrap_err();
        assert!(error.to_string().contains("a pipe or a device"), "{error}");
    }
}
