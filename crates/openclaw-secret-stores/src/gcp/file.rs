//! Files with credentials of Google Cloud: where they are.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use secrecy::zeroize::Zeroizing;

use super::credentials::NoToken;
use crate::error::SecretError;
use crate::reading;
use crate::surroundings::Surroundings;

/// The variable that names a file.
const VARIABLE: &str = "GOOGLE_APPLICATION_CREDENTIALS";
/// The file that `gcloud auth application-default login` writes.
const USUAL_NAME: &str = "application_default_credentials.json";
/// How large a file may be. One with a key has about 2 KiB.
const LARGEST_FILE: u64 = 64 * 1024;

/// A file that may hold credentials.
#[derive(Clone)]
pub(super) struct CredentialFile {
    path: PathBuf,
    /// Whether somebody said that it is this one. Then it must be there, and it must be right: to
    /// take other credentials would be to be somebody else without anybody knowing.
    is_named: bool,
}

/// The bytes of a file, and what tells them from others.
pub(super) struct Content {
    pub(super) bytes: Zeroizing<Vec<u8>>,
    pub(super) digest: ring::digest::Digest,
}

impl CredentialFile {
    /// The file that counts here, whether it is there or not.
    pub(super) fn find(surroundings: &Surroundings) -> Option<Self> {
        let environment = &surroundings.environment;
        let path = |path: &str| environment.directory().join(path);
        if let Some(named) = surroundings.variable(VARIABLE) {
            return Some(Self {
                path: path(named),
                is_named: true,
            });
        }
        let directory = if let Some(directory) = surroundings.variable("CLOUDSDK_CONFIG") {
            path(directory)
        } else if cfg!(windows) {
            path(surroundings.variable("APPDATA")?).join("gcloud")
        } else {
            // Google's own programs know nothing of a home that is only ours.
            match surroundings.variable("HOME") {
                Some(home) => path(home).join(".config/gcloud"),
                None => surroundings.below_home(".config/gcloud")?,
            }
        };
        Some(Self {
            path: directory.join(USUAL_NAME),
            is_named: false,
        })
    }

    /// Reads the file. That there is none is no error where nobody named it.
    pub(super) async fn read(&self) -> Result<Option<Content>, NoToken> {
        let read = reading::read(&self.path, content).await;
        match read.unwrap_or_else(Err) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.is_named => Ok(None),
            Err(error) => {
                let shown = self.path.display();
                let origin = if self.is_named {
                    format!("{VARIABLE} names {shown}, which can't be read")
                } else {
                    format!("cannot read {shown}")
                };
                let reason = format!("{origin}: {error}");
                Err(self.wrong(SecretError::unreadable(&error, reason)))
            }
        }
    }

    /// Where it is, for words about it.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Says that there is no token for what is in the file.
    pub(super) fn wrong(&self, error: SecretError) -> NoToken {
        NoToken {
            // What can't be read for now alone is not to be had from another program either.
            gcloud_may_help: !self.is_named && !error.is_shortage(),
            error,
        }
    }
}

fn content(path: &Path) -> io::Result<Content> {
    // Something else, such as a pipe, might never end.
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Zeroizing::new(Vec::new());
    let file = File::open(path)?;
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        let message = format!("it has more than {LARGEST_FILE} bytes");
        return Err(io::Error::other(message));
    }
    let digest = ring::digest::digest(&ring::digest::SHA256, &bytes);
    Ok(Content { bytes, digest })
}
