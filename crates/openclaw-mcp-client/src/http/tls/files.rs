//! Certificates and keys that the configuration names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use openclaw_process::is_shortage;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error as RustlsError, InconsistentKeys, RootCertStore};
use thiserror::Error;

use crate::target::ClientIdentity;

/// What a file says in whose key we would need a password for.
const ENCRYPTED: &[u8] = b"ENCRYPTED";

/// A certificate or key that can't be used.
#[derive(Debug, Error)]
pub enum TlsError {
    /// The file can't be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no certificate in the file.
    #[error("{} holds no certificate; it must be in PEM format", .0.display())]
    NoCertificate(PathBuf),
    /// A certificate in the file is damaged.
    #[error("{} holds a certificate that cannot be used: {reason}", path.display())]
    BadCertificate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no key in the file.
    #[error("{} holds no private key; it must be in PEM format", .0.display())]
    NoKey(PathBuf),
    /// The key in the file needs a password.
    #[error(
        "the private key in {} is encrypted; `openssl pkey -in FILE -out NEWFILE` writes one that \
         is not",
        .0.display()
    )]
    EncryptedKey(PathBuf),
    /// The key in the file is damaged, or of a kind that is not known.
    #[error("{} holds a private key that cannot be used: {reason}", path.display())]
    BadKey {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The key belongs to another certificate.
    #[error(
        "the private key in {} does not belong to the certificate in {}",
        key.display(),
        certificate.display()
    )]
    OtherKey {
        /// The file with the key.
        key: PathBuf,
        /// The file with the certificate.
        certificate: PathBuf,
    },
}

impl TlsError {
    /// Whether the file was not read since this machine has too little of something at the moment.
    pub fn is_shortage(&self) -> bool {
        matches!(self, Self::Unreadable { source, .. } if is_shortage(source))
    }
}

/// Reads a file with authorities.
pub(super) fn authorities(path: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path, &read(path)?)? {
        roots
            .add(certificate)
            .map_err(|error| bad_certificate(path, &error))?;
    }
    Ok(roots)
}

/// Reads our own certificate and its key.
pub(super) fn identity(
    identity: &ClientIdentity,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, TlsError> {
    let certificate_path = identity.certificate.as_path();
    let content = read(certificate_path)?;
    let chain = certificates(certificate_path, &content)?;
    let (key_path, key) = match identity.key.as_deref() {
        Some(path) => (path, private_key(path, &read(path)?)?),
        None => (certificate_path, private_key(certificate_path, &content)?),
    };
    CertifiedKey::from_der(chain, key, provider).map_err(|error| match error {
        RustlsError::InconsistentKeys(InconsistentKeys::KeyMismatch) => TlsError::OtherKey {
            key: key_path.to_owned(),
            certificate: certificate_path.to_owned(),
        },
        RustlsError::InvalidCertificate(_) => bad_certificate(certificate_path, &error),
        error => TlsError::BadKey {
            path: key_path.to_owned(),
            reason: error.to_string(),
        },
    })
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|source| TlsError::Unreadable {
        path: path.to_owned(),
        source,
    })
}

fn certificates(path: &Path, content: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates = CertificateDer::pem_slice_iter(content)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| bad_certificate(path, &error))?;
    if certificates.is_empty() {
        return Err(TlsError::NoCertificate(path.to_owned()));
    }
    Ok(certificates)
}

fn private_key(path: &Path, content: &[u8]) -> Result<PrivateKeyDer<'static>, TlsError> {
    let is_encrypted = memchr::memmem::find(content, ENCRYPTED).is_some();
    match PrivateKeyDer::pem_slice_iter(content).next() {
        _ if is_encrypted => Err(TlsError::EncryptedKey(path.to_owned())),
        Some(Ok(key)) => Ok(key),
        // What the error says may be part of the key.
        Some(Err(_)) => Err(TlsError::BadKey {
            path: path.to_owned(),
            reason: "it is not valid PEM".to_owned(),
        }),
        None => Err(TlsError::NoKey(path.to_owned())),
    }
}

fn bad_certificate(path: &Path, error: &dyn std::error::Error) -> TlsError {
    TlsError::BadCertificate {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}
