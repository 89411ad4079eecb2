//! JSON files that say which format they have.

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::read::{ReadError, read_bounded};
use crate::replace::{Access, WriteError, replace};

/// The contents of a file of ours, with the version of their format.
pub trait Versioned: Serialize + DeserializeOwned {
    /// What the file is, as it stands in the file and in messages.
    const FORMAT: &'static str;
    /// The version that this program writes.
    const VERSION: u32;
    /// How large the file may be.
    const LIMIT: u64 = 8_000_000;

    /// Turns the data of an older version into that of the next one.
    ///
    /// Returns `None` where there is no way, which makes the file count as corrupt.
    fn migrate(from: u32, data: Value) -> Option<Value> {
        let _ = (from, data);
        None
    }
}

/// Why a file of ours cannot be used.
#[derive(Debug, Error)]
pub enum VersionedError {
    /// A newer program wrote it; it is left alone.
    #[error(
        "{} has version {found} of the format `{format}`, this program knows {known}: \
         update openclaw, or use another state directory with OPENCLAW_STATE_DIR",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// What it is.
        format: &'static str,
        /// Its version.
        found: u32,
        /// The newest version known here.
        known: u32,
    },
    /// It is not what it should be.
    #[error("{} is not a valid `{format}` file: {reason}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What it should be.
        format: &'static str,
        /// What is wrong with it; never a part of the contents.
        reason: String,
    },
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

#[derive(Serialize)]
struct Envelope<'a, T> {
    format: &'static str,
    version: u32,
    data: &'a T,
}

/// Reads a versioned file; `None` where there is none.
///
/// An older version is brought up to date and rewritten, after a copy was put beside it.
pub fn load<T: Versioned>(path: &Path) -> Result<Option<T>, VersionedError> {
    let bytes = match read_bounded(path, T::LIMIT) {
        Ok(bytes) => bytes,
        Err(ReadError::Missing(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let (found, contents) = parse(path, &bytes)?;
    if found < T::VERSION {
        replace(&backup_path(path, found), &bytes, Access::Private)?;
        write(path, &contents)?;
    }
    Ok(Some(contents))
}

/// Writes a versioned file, readable only by its owner.
///
/// A file of a newer version is not overwritten, nor is one that is larger than this version
/// allows. A corrupt file is [set aside](set_aside) first, and of an older version a copy is kept.
pub fn store<T: Versioned>(path: &Path, contents: &T) -> Result<(), VersionedError> {
    match read_bounded(path, T::LIMIT) {
        Ok(bytes) => match parse::<T>(path, &bytes) {
            Ok((found, _)) if found < T::VERSION => {
                replace(&backup_path(path, found), &bytes, Access::Private)?;
            }
            Ok(_) => {}
            Err(VersionedError::Corrupt { .. }) => {
                set_aside(path)?;
            }
            Err(error) => return Err(error),
        },
        Err(ReadError::Missing(_)) => {}
        // What is too large for us may be the work of a newer version that allows more.
        Err(error) => return Err(error.into()),
    }
    write(path, contents)
}

/// Moves a file that cannot be used out of the way, and says where to.
pub fn set_aside(path: &Path) -> Result<PathBuf, WriteError> {
    let failed = |source| WriteError {
        path: path.to_owned(),
        source,
    };
    let mut number = 1_u32;
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".corrupt-{number}"));
        let aside = PathBuf::from(name);
        if !aside.try_exists().map_err(failed)? {
            fs::rename(path, &aside).map_err(failed)?;
            return Ok(aside);
        }
        number += 1;
    }
}

/// Reads the contents, brought up to date, and the version that they had.
fn parse<T: Versioned>(path: &Path, bytes: &[u8]) -> Result<(u32, T), VersionedError> {
    let (found, mut value) = open_envelope::<T>(path, bytes)?;
    let mut data = value
        .get_mut("data")
        .map(Value::take)
        .ok_or_else(|| corrupt::<T>(path, "it has no data"))?;
    for version in found..T::VERSION {
        data = T::migrate(version, data)
            .ok_or_else(|| corrupt::<T>(path, "its version is no longer supported"))?;
    }
    let contents = serde_json::from_value(data).map_err(|error| {
        // The message of a data error may quote the data, which may be secret.
        corrupt::<T>(
            path,
            &format!("the data has a wrong shape ({:?})", error.classify()),
        )
    })?;
    Ok((found, contents))
}

fn open_envelope<T: Versioned>(path: &Path, bytes: &[u8]) -> Result<(u32, Value), VersionedError> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| {
        let place = format!(
            "not JSON at line {}, column {}",
            error.line(),
            error.column()
        );
        corrupt::<T>(path, &place)
    })?;
    let header =
        Header::deserialize(&value).map_err(|_| corrupt::<T>(path, "it names no format"))?;
    if header.format != T::FORMAT {
        return Err(corrupt::<T>(path, "it has another format"));
    }
    if header.version > T::VERSION {
        return Err(VersionedError::Newer {
            path: path.to_owned(),
            format: T::FORMAT,
            found: header.version,
            known: T::VERSION,
        });
    }
    Ok((header.version, value))
}

fn write<T: Versioned>(path: &Path, contents: &T) -> Result<(), VersionedError> {
    let envelope = Envelope {
        format: T::FORMAT,
        version: T::VERSION,
        data: contents,
    };
    let mut bytes = serde_json::to_vec_pretty(&envelope).map_err(|error| WriteError {
        path: path.to_owned(),
        source: error.into(),
    })?;
    bytes.push(b'\n');
    Ok(replace(path, &bytes, Access::Private)?)
}

fn corrupt<T: Versioned>(path: &Path, reason: &str) -> VersionedError {
    VersionedError::Corrupt {
        path: path.to_owned(),
        format: T::FORMAT,
        reason: reason.to_owned(),
    }
}

fn backup_path(path: &Path, version: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".v{version}.bak"));
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Colours {
        names: Vec<String>,
    }

    impl Versioned for Colours {
        const FORMAT: &'static str = "colours";
        const VERSION: u32 = 2;

        fn migrate(from: u32, data: Value) -> Option<Value> {
            (from == 1).then(|| json!({ "names": [data["name"]] }))
        }
    }

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("colours.json");
        fs::write(&path, text).unwrap();
        (directory, path)
    }

    #[test]
    fn what_was_stored_is_loaded() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("colours.json");
        assert_eq!(load::<Colours>(&path).unwrap(), None);
        let colours = Colours {
            names: vec!["red".to_owned()],
        };
        store(&path, &colours).unwrap();
        assert_eq!(load(&path).unwrap(), Some(colours));
    }

    #[test]
    fn an_older_version_is_migrated_and_a_copy_kept() {
        let old = r#"{"format":"colours","version":1,"data":{"name":"blue"}}"#;
        let (_directory, path) = file(old);
        let colours: Colours = load(&path).unwrap().unwrap();
        assert_eq!(colours.names, ["blue"]);
        assert_eq!(fs::read_to_string(backup_path(&path, 1)).unwrap(), old);
        assert!(
            fs::read_to_string(&path)
                .unwrap()
                .contains("\"version\": 2")
        );
    }

    #[test]
    fn a_newer_version_is_refused_and_never_overwritten() {
        let new = r#"{"format":"colours","version":3,"data":{"palette":1}}"#;
        let (_directory, path) = file(new);
        let error = load::<Colours>(&path).unwrap_err();
        assert!(error.to_string().contains("update openclaw"), "{error}");
        let error = store(&path, &Colours { names: vec![] }).unwrap_err();
        assert!(matches!(error, VersionedError::Newer { found: 3, .. }));
        assert_eq!(fs::read_to_string(&path).unwrap(), new);
    }

    #[test]
    fn a_corrupt_file_is_named_without_its_contents_and_can_be_set_aside() {
        for text in [
            "",
            "{",
            "[]",
            r#"{"format":"colours"}"#,
            r#"{"format":"shapes","version":1}"#,
            r#"{"format":"colours","version":2,"data":"hunter2"}"#,
            r#"{"format":"colours","version":0,"data":{}}"#,
        ] {
            let (_directory, path) = file(text);
            let error = load::<Colours>(&path).unwrap_err();
            assert!(matches!(error, VersionedError::Corrupt { .. }), "{error}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
            let aside = set_aside(&path).unwrap();
            assert_eq!(fs::read_to_string(aside).unwrap(), text);
            assert_eq!(load::<Colours>(&path).unwrap(), None);
        }
    }

    #[test]
    fn a_corrupt_file_is_set_aside_before_it_is_replaced() {
        for text in [
            "{",
            r#"{"format":"shapes","version":1}"#,
            r#"{"format":"colours","version":2,"data":"hunter2"}"#,
        ] {
            let (directory, path) = file(text);
            let colours = Colours { names: vec![] };
            store(&path, &colours).unwrap();
            assert_eq!(load(&path).unwrap(), Some(colours));
            let aside = directory.path().join("colours.json.corrupt-1");
            assert_eq!(fs::read_to_string(aside).unwrap(), text);
        }
    }

    #[test]
    fn a_file_that_is_absent_or_sound_leaves_nothing_aside() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("colours.json");
        for _ in 0..2 {
            store(&path, &Colours { names: vec![] }).unwrap();
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_too_large_is_refused_and_never_overwritten() {
        let (_directory, path) = file("");
        let large = fs::File::options().write(true).open(&path).unwrap();
        large.set_len(Colours::LIMIT + 1).unwrap();
        let error = store(&path, &Colours { names: vec![] }).unwrap_err();
        assert!(
            matches!(error, VersionedError::Read(ReadError::TooLarge { .. })),
            "{error}"
        );
        assert_eq!(fs::metadata(&path).unwrap().len(), Colours::LIMIT + 1);
    }

    #[test]
    fn an_older_version_that_was_never_loaded_is_copied_before_it_is_replaced() {
        let old = r#"{"format":"colours","version":1,"data":{"name":"blue"}}"#;
        let (_directory, path) = file(old);
        store(&path, &Colours { names: vec![] }).unwrap();
        assert_eq!(fs::read_to_string(backup_path(&path, 1)).unwrap(), old);
    }
}
