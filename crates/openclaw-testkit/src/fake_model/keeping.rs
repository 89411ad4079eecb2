//! Requests on disk, written as they come.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use http_body_util::BodyExt as _;
use hyper::body::Incoming;

/// A body that was taken.
pub(super) struct Taken {
    /// Where it is kept, if it is.
    pub(super) file: Option<PathBuf>,
    pub(super) bytes: u64,
}

/// Takes a body, and keeps it in this directory under this number.
pub(super) async fn take(
    mut body: Incoming,
    directory: Option<&Path>,
    number: u64,
) -> io::Result<Taken> {
    let whole = directory.map(|directory| directory.join(format!("{number:04}.json")));
    let part = whole.as_ref().map(|whole| whole.with_extension("part"));
    let mut file = part.as_ref().map(File::create).transpose()?;
    let mut bytes = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(io::Error::other)?;
        if let Some(data) = frame.data_ref() {
            bytes += u64::try_from(data.len()).unwrap_or_default();
            if let Some(file) = &mut file {
                file.write_all(data)?;
            }
        }
    }
    if let (Some(part), Some(whole)) = (&part, &whole) {
        fs::rename(part, whole)?;
    }
    Ok(Taken { file: whole, bytes })
}
