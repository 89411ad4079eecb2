//! What a file is like from the outside.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// What files are like from the outside. Two that are equal have the same contents, unless somebody
/// takes pains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamps(BTreeMap<PathBuf, Stamp>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Stamp {
    /// There is none, or it can't be looked at.
    Missing,
    /// There is one: where a link leads to, if it is one.
    Present(Marks),
}

impl Stamps {
    /// Looks at files.
    pub(super) fn of(files: &[PathBuf]) -> Self {
        let looked = files.iter().map(|file| (file.clone(), look(file)));
        Self(looked.collect())
    }

    /// What the files of `others` are like: as it is here, and as it is there for those that are not here.
    pub(super) fn or_else(mut self, mut others: Self) -> Self {
        for (file, stamp) in &mut others.0 {
            if let Some(known) = self.0.remove(file) {
                *stamp = known;
            }
        }
        others
    }
}

fn look(file: &Path) -> Stamp {
    fs::metadata(file).map_or(Stamp::Missing, |metadata| Stamp::Present(marks(&metadata)))
}

#[cfg(unix)]
type Marks = [i128; 5];

/// The last change of the entry itself is among them, since a copy can bring its time and size along.
#[cfg(unix)]
fn marks(metadata: &Metadata) -> Marks {
    use std::os::unix::fs::MetadataExt as _;
    let time = |seconds: i64, nanoseconds: i64| {
        i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
    };
    [
        metadata.dev().into(),
        metadata.ino().into(),
        metadata.size().into(),
        time(metadata.mtime(), metadata.mtime_nsec()),
        time(metadata.ctime(), metadata.ctime_nsec()),
    ]
}

#[cfg(not(unix))]
type Marks = (
    u64,
    Option<std::time::SystemTime>,
    Option<std::time::SystemTime>,
);

#[cfg(not(unix))]
fn marks(metadata: &Metadata) -> Marks {
    (
        metadata.len(),
        metadata.modified().ok(),
        metadata.created().ok(),
    )
}
