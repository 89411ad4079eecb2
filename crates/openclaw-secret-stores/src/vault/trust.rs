//! The certificates that variables name: of authorities, and our own.

use std::io;
use std::path::{Path, PathBuf};

use openclaw_http::{Certificate, Identity};
use rustls::RootCertStore;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use secrecy::zeroize::Zeroizing;

use crate::error::SecretError;
use crate::file;
use crate::http::Trust;
use crate::reading;
use crate::surroundings::Surroundings;

const AUTHORITY: &str = "VAULT_CACERT";
const AUTHORITIES: &str = "VAULT_CAPATH";
const CERTIFICATE: &str = "VAULT_CLIENT_CERT";
const KEY: &str = "VAULT_CLIENT_KEY";

/// How many files a directory of authorities may have.
const MOST_FILES: usize = 1000;

/// Reads the certificates.
pub(super) async fn read(surroundings: &Surroundings) -> Result<Trust, SecretError> {
    let surroundings = surroundings.clone();
    let mut variables = [AUTHORITY, AUTHORITIES, CERTIFICATE, KEY].into_iter();
    let place = variables.find_map(|name| surroundings.variable(name));
    let place = PathBuf::from(place.unwrap_or_default());
    let read = reading::read(&place, move |_| {
        Ok(Trust {
            verify: true,
            authorities: authorities(&surroundings)?,
            identity: identity(&surroundings)?,
        })
    });
    let given_up = |_| {
        Err(SecretError::unavailable(
            "reading certificates was given up",
        ))
    };
    read.await.unwrap_or_else(given_up)
}

/// The authorities: those of the file, else those of the directory, as the vendor's command has it.
fn authorities(surroundings: &Surroundings) -> Result<Vec<Certificate>, SecretError> {
    if let Some(path) = surroundings.variable(AUTHORITY) {
        let path = Path::new(path);
        let found = certificates(AUTHORITY, path, &bytes(AUTHORITY, path)?)?;
        if found.is_empty() {
            return Err(wrong(AUTHORITY, path, "it has no certificate in PEM"));
        }
        return checked(AUTHORITY, path, found);
    }
    let Some(directory) = surroundings.variable(AUTHORITIES) else {
        return Ok(Vec::new());
    };
    let directory = Path::new(directory);
    let mut all = Vec::new();
    for path in files(directory).map_err(|error| unreadable(AUTHORITIES, directory, &error))? {
        let found = certificates(AUTHORITIES, &path, &bytes(AUTHORITIES, &path)?)?;
        all.extend(checked(AUTHORITIES, &path, found)?);
    }
    if all.is_empty() {
        let reason = "no file in it has a certificate in PEM";
        return Err(wrong(AUTHORITIES, directory, reason));
    }
    Ok(all)
}

/// The files of a directory, in the order of their names.
fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        // What links lead to counts: directories of authorities are full of them.
        let path = entry?.path();
        if path.is_file() {
            paths.push(path);
        }
        if paths.len() > MOST_FILES {
            return Err(io::Error::other(format!(
                "it has more than {MOST_FILES} files"
            )));
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

/// Our own certificate and its key.
fn identity(surroundings: &Surroundings) -> Result<Option<Identity>, SecretError> {
    let variables = (
        surroundings.variable(CERTIFICATE),
        surroundings.variable(KEY),
    );
    let (certificate, key) = match variables {
        (Some(certificate), Some(key)) => (Path::new(certificate), Path::new(key)),
        (None, None) => return Ok(None),
        (Some(_), None) => return Err(half(CERTIFICATE, KEY)),
        (None, Some(_)) => return Err(half(KEY, CERTIFICATE)),
    };
    let mut pem = bytes(CERTIFICATE, certificate)?;
    let chain = certificates(CERTIFICATE, certificate, &pem)?;
    if chain.is_empty() {
        let reason = "it has no certificate in PEM";
        return Err(wrong(CERTIFICATE, certificate, reason));
    }
    let key_pem = bytes(KEY, key)?;
    if let Ok(text) = std::str::from_utf8(&key_pem) {
        surroundings.credential(text);
    }
    let private = PrivateKeyDer::from_pem_slice(&key_pem).map_err(|_| {
        let reason = "it has no private key in PEM (one with a passphrase can't be used)";
        wrong(KEY, key, reason)
    })?;
    // Here it is known which files are meant; later it is not.
    CertifiedKey::from_der(chain, private, &ring::default_provider()).map_err(|error| {
        let reason = format!("it can't be used with {}: {error}", certificate.display());
        wrong(KEY, key, reason)
    })?;
    pem.push(b'\n');
    pem.extend_from_slice(&key_pem);
    let identity = Identity::from_pem(&pem);
    identity.map(Some).map_err(|error| wrong(KEY, key, error))
}

fn bytes(variable: &str, path: &Path) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    let content = file::content_now(path);
    let (bytes, _) = content.map_err(|error| unreadable(variable, path, &error))?;
    Ok(bytes)
}

/// The certificates in a file.
fn certificates(
    variable: &str,
    path: &Path,
    pem: &[u8],
) -> Result<Vec<CertificateDer<'static>>, SecretError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    found.map_err(|_| wrong(variable, path, "it is not well-formed PEM"))
}

/// Takes certificates as authorities.
fn checked(
    variable: &str,
    path: &Path,
    found: Vec<CertificateDer<'static>>,
) -> Result<Vec<Certificate>, SecretError> {
    let mut store = RootCertStore::empty();
    let authority = |der: CertificateDer<'static>| {
        let certificate = Certificate::from_der(&der);
        store
            .add(der)
            .map_err(|error| wrong(variable, path, error))?;
        certificate.map_err(|error| wrong(variable, path, error))
    };
    found.into_iter().map(authority).collect()
}

fn wrong(variable: &str, path: &Path, reason: impl std::fmt::Display) -> SecretError {
    SecretError::misconfigured(cannot_be_used(variable, path, reason))
}

fn unreadable(variable: &str, path: &Path, error: &io::Error) -> SecretError {
    SecretError::unreadable(error, cannot_be_used(variable, path, error))
}

fn cannot_be_used(variable: &str, path: &Path, reason: impl std::fmt::Display) -> String {
    let path = path.display();
    format!("{path} of `{variable}` can't be used: {reason}")
}

fn half(given: &str, missing: &str) -> SecretError {
    SecretError::misconfigured(format!("`{given}` is set without `{missing}`"))
}
