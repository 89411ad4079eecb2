//! What nobody needs any more beside saved logins.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::path::Path;
use std::time::{Duration, SystemTime};

use openclaw_state::layout;

/// How files begin that are not yet in their place.
const TEMPORARY: &str = ".openclaw-";
/// After how long nobody is still writing one.
const LEFT_BEHIND: Duration = Duration::from_hours(1);

/// Deletes what processes that were killed while they wrote have left behind. What can't be deleted
/// does no harm.
pub(super) fn remove_left_behind(directory: &Path, now: SystemTime) {
    for (entry, name) in entries(directory) {
        let is_old = modified(&entry)
            .and_then(|then| now.duration_since(then).ok())
            .is_some_and(|age| age > LEFT_BEHIND);
        if name.starts_with(TEMPORARY) && is_old {
            remove(&entry);
        }
    }
}

/// Deletes the oldest files that were set aside in the place of `path`, but for the newest few and the
/// one that was set aside last.
pub(super) fn remove_surplus(path: &Path, last: &Path) {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name().and_then(OsStr::to_str))
    else {
        return;
    };
    let beginning = format!("{name}.corrupt-");
    let mut aside: Vec<DirEntry> = entries(directory)
        .filter(|(entry, name)| name.starts_with(&beginning) && entry.path() != last)
        .map(|(entry, _)| entry)
        .collect();
    aside.sort_by_key(modified);
    let surplus = (aside.len() + 1).saturating_sub(layout::TOKENS_SET_ASIDE);
    for entry in &aside[..surplus] {
        remove(entry);
    }
}

/// The files of a directory whose names are texts.
fn entries(directory: &Path) -> impl Iterator<Item = (DirEntry, String)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_file = entry.file_type().is_ok_and(|it| it.is_file());
        is_file.then_some((entry, name))
    })
}

fn modified(entry: &DirEntry) -> Option<SystemTime> {
    entry.metadata().and_then(|it| it.modified()).ok()
}

fn remove(entry: &DirEntry) {
    if let Err(error) = fs::remove_file(entry.path()) {
        tracing::debug!(path = %entry.path().display(), "not deleted: {error}");
    }
}
