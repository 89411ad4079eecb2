//! Whether a file is still the one that was read.

use std::fs;
use std::path::Path;

/// What tells one state of a file from another, without reading it.
///
/// Files are replaced and never written to, so that every write makes another file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp(Option<Marks>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks {
    inode: u64,
    size: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Stamp {
    /// The stamp of what is there now. A file that can't be looked at is as good as absent.
    pub(super) fn of(path: &Path) -> Self {
        Self(fs::metadata(path).ok().map(|it| Marks::of(&it)))
    }

    /// Whether there was no file.
    pub fn is_absence(&self) -> bool {
        self.0.is_none()
    }
}

impl Marks {
    #[cfg(unix)]
    fn of(metadata: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self {
            inode: metadata.ino(),
            size: metadata.len(),
            seconds: metadata.mtime(),
            nanoseconds: metadata.mtime_nsec(),
        }
    }

    #[cfg(not(unix))]
    fn of(metadata: &fs::Metadata) -> Self {
        use std::time::UNIX_EPOCH;
        let modified = metadata.modified().ok();
        let since = modified
            .and_then(|it| it.duration_since(UNIX_EPOCH).ok())
            .unwrap_or_default();
        Self {
            inode: 0,
            size: metadata.len(),
            seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
            nanoseconds: i64::from(since.subsec_nanos()),
        }
    }
}
