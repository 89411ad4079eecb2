//! Files that hold secrets.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use futures_util::future::join_all;
use openclaw_config::FileMode;
use openclaw_process::is_shortage;
use openclaw_secrets::{FilePath, SecretReference};
use secrecy::zeroize::Zeroizing;
use serde_json::Value as Json;
use tokio::time::Instant;

use crate::error::SecretError;
use crate::provider::{Fetched, Fetching, Found, Remark, SecretProvider};
use crate::reading;
use crate::surroundings::Surroundings;
use crate::value::{self, Document};

/// How large a file may be: it may hold many secrets.
const LARGEST_FILE: u64 = 1024 * 1024;
/// The identifier that the other OpenClaw gives to the only value of a file.
const ONLY_VALUE: &str = "value";

/// Files that references name.
pub(crate) struct Files {
    surroundings: Surroundings,
}

/// The file of an entry of `secrets.providers`.
pub(crate) struct OneFile {
    path: PathBuf,
    mode: FileMode,
}

impl Files {
    pub(crate) fn new(surroundings: Surroundings) -> Self {
        Self { surroundings }
    }

    /// The file, and the pointer to the value in it.
    fn place(&self, reference: &SecretReference) -> Result<Place, SecretError> {
        let SecretReference::File { path, pointer, .. } = reference else {
            return Err(SecretError::misconfigured("it is not a file"));
        };
        let path = match path {
            FilePath::Absolute { path, .. } => PathBuf::from(path),
            FilePath::Home { path, .. } => self.surroundings.below_home(path).ok_or_else(|| {
                SecretError::misconfigured("there is no home directory that `~` could mean")
            })?,
        };
        Ok(Place {
            path,
            pointer: pointer.clone(),
        })
    }
}

impl OneFile {
    pub(crate) fn new(path: PathBuf, mode: FileMode) -> Self {
        Self { path, mode }
    }

    fn place(&self, reference: &SecretReference) -> Result<Place, SecretError> {
        let SecretReference::Configured { id, .. } = reference else {
            return Err(SecretError::misconfigured("it is not a file"));
        };
        let pointer = match self.mode {
            FileMode::Json if id.starts_with('/') => Some(id.clone()),
            FileMode::Json => {
                let reason = format!("{id:?} is not a JSON pointer: it begins with `/`");
                return Err(SecretError::misconfigured(reason));
            }
            FileMode::SingleValue if id == ONLY_VALUE => None,
            FileMode::SingleValue => {
                let reason = format!("a file with a single value has only the id `{ONLY_VALUE}`");
                return Err(SecretError::misconfigured(reason));
            }
        };
        Ok(Place {
            path: self.path.clone(),
            pointer,
        })
    }
}

impl SecretProvider for Files {
    fn fetch<'p>(&'p self, references: &'p [SecretReference], _until: Instant) -> Fetching<'p> {
        let places = references.iter().map(|reference| self.place(reference));
        Box::pin(values(places.collect(), content))
    }
}

impl SecretProvider for OneFile {
    fn fetch<'p>(&'p self, references: &'p [SecretReference], _until: Instant) -> Fetching<'p> {
        let places = references.iter().map(|reference| self.place(reference));
        Box::pin(values(places.collect(), content))
    }
}

/// Where a secret is.
struct Place {
    path: PathBuf,
    pointer: Option<String>,
}

/// What is at these places. Every file is read once, so that a name and its password are of the
/// same version.
async fn values<R>(
    places: Vec<Result<Place, SecretError>>,
    read: impl Fn(PathBuf) -> R,
) -> Vec<Fetched>
where
    R: Future<Output = io::Result<Content>>,
{
    let paths = places.iter().flatten().map(|place| place.path.clone());
    let paths: BTreeSet<PathBuf> = paths.collect();
    let reading = paths.into_iter().map(async |path| {
        let opened = Opened::new(&path, read(path.clone()).await);
        (path, opened)
    });
    let files: HashMap<PathBuf, Result<Opened, SecretError>> =
        join_all(reading).await.into_iter().collect();
    let value = |place: Place| {
        let file = files.get(&place.path);
        let file = file.ok_or_else(|| SecretError::unavailable("it was not read"))?;
        let file = file.as_ref().map_err(Clone::clone)?;
        file.value(place.pointer.as_deref())
    };
    places.into_iter().map(|place| value(place?)).collect()
}

/// A file that was read.
struct Opened {
    shown: String,
    bytes: Zeroizing<Vec<u8>>,
    remark: Option<Remark>,
    /// What it is as JSON, once somebody asks.
    document: OnceCell<Result<Document, SecretError>>,
}

impl Opened {
    fn new(path: &Path, read: io::Result<Content>) -> Result<Self, SecretError> {
        let (bytes, remark) = read.map_err(|error| unreadable(path, &error))?;
        Ok(Self {
            shown: path.display().to_string(),
            bytes,
            remark,
            document: OnceCell::new(),
        })
    }

    fn value(&self, pointer: Option<&str>) -> Fetched {
        let value = match pointer {
            None => value::from_bytes(self.bytes.to_vec())?,
            Some(pointer) => value::from_json(self.at(pointer)?)?,
        };
        Ok(Found {
            value,
            remark: self.remark.clone(),
        })
    }

    fn at(&self, pointer: &str) -> Result<&Json, SecretError> {
        let parse = || {
            // What the parser says about a place that is wrong may be a part of a secret.
            Document::parse(&self.bytes).map_err(|error| {
                let (line, column) = (error.line(), error.column());
                let shown = &self.shown;
                SecretError::unusable(format!(
                    "{shown} is not JSON at line {line}, column {column}"
                ))
            })
        };
        let document = self.document.get_or_init(parse).as_ref();
        let found = document.map_err(Clone::clone)?.pointer(pointer);
        found.ok_or_else(|| {
            SecretError::missing(format!("{} has no value at `{pointer}`", self.shown))
        })
    }
}

/// The bytes of a file, and whether others could read it, too.
pub(crate) type Content = (Zeroizing<Vec<u8>>, Option<Remark>);

/// Reads a file, however long its disk takes.
pub(crate) async fn content(path: PathBuf) -> io::Result<Content> {
    reading::read(&path, content_now).await?
}

/// Reads a file, on a thread that may wait.
pub(crate) fn content_now(path: &Path) -> io::Result<Content> {
    let file = open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    // With room for all of it at once, no copies are left behind.
    let room = usize::try_from(metadata.len().min(LARGEST_FILE)).unwrap_or_default();
    let mut bytes = Zeroizing::new(Vec::with_capacity(room + 1));
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        let message = format!("it has more than {LARGEST_FILE} bytes");
        return Err(io::Error::other(message));
    }
    Ok((bytes, remark(path, &metadata)))
}

/// Opens a file without waiting for the other end of a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NONBLOCK.bits();
    let flags = i32::try_from(flags).map_err(io::Error::other)?;
    File::options().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(unix)]
fn remark(path: &Path, metadata: &std::fs::Metadata) -> Option<Remark> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = metadata.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then(|| Remark::OpenFile {
        path: path.to_owned(),
        mode,
    })
}

#[cfg(not(unix))]
fn remark(_path: &Path, _metadata: &std::fs::Metadata) -> Option<Remark> {
    None
}

fn unreadable(path: &Path, error: &io::Error) -> SecretError {
    let reason = format!("cannot read {}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::NotFound => SecretError::missing(reason),
        io::ErrorKind::PermissionDenied => SecretError::refused(reason),
        _ if is_shortage(error) => SecretError::shortage(reason),
        _ => SecretError::unusable(reason),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_file_that_can_not_be_opened_for_want_of_descriptors_may_be_read_later() {
        use crate::error::SecretErrorKind::{Unavailable, Unusable};
        for (code, kind, is_shortage) in [
            (rustix::io::Errno::MFILE, Unavailable, true),
            (rustix::io::Errno::NFILE, Unavailable, true),
            (rustix::io::Errno::IO, Unusable, false),
        ] {
            let error = unreadable(Path::new("/a"), &code.into());
            assert_eq!(error.kind(), kind, "{error}");
            assert_eq!(error.is_shortage(), is_shortage, "{error}");
        }
    }

    #[tokio::test]
    async fn a_file_is_read_once_for_all_its_values() {
        let count = Cell::new(0);
        // It is changed after every look.
        let read = async |path: PathBuf| {
            count.set(count.get() + 1);
            if path.ends_with("gone") {
                return Err(io::ErrorKind::NotFound.into());
            }
            let number = count.get();
            let text = format!(r#"{{"user":"user-{number}","password":"password-{number}"}}"#);
            Ok((Zeroizing::new(text.into_bytes()), None))
        };
        let place = |path: &str, pointer: &str| {
            Ok(Place {
                path: path.into(),
                pointer: Some(pointer.to_owned()),
            })
        };
        let places = vec![
            place("/a", "/user"),
            place("/gone", "/user"),
            Err(SecretError::misconfigured("no place")),
            place("/a", "/password"),
            place("/gone", "/password"),
            place("/b", "/password"),
        ];
        let text = |fetched: Fetched| match fetched {
            Ok(found) => found.value.expose().to_owned(),
            Err(error) => error.to_string(),
        };
        let found = values(places, read).await;
        let texts: Vec<String> = found.into_iter().map(text).collect();
        assert_eq!(texts[0], "user-1");
        assert!(texts[1].starts_with("cannot read /gone"), "{}", texts[1]);
        assert_eq!(texts[2], "no place");
        assert_eq!(texts[3], "password-1");
        assert_eq!(texts[4], texts[1]);
        assert_eq!(texts[5], "password-2");
        assert_eq!(count.get(), 3);
    }
}
