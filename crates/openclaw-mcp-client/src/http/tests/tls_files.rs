//! Files that hold no usable certificate or key.

use std::fs;
use std::path::Path;

use super::certificates::Authority;
use super::*;
use crate::http::TlsError;
use crate::target::ClientIdentity;

fn authorities(path: &Path) -> TlsError {
    let tls = TlsSettings {
        authorities: Some(path.to_owned()),
        ..TlsSettings::default()
    };
    clients().get(&tls).unwrap_err()
}

fn identity(certificate: &Path, key: Option<&Path>) -> TlsError {
    let tls = TlsSettings {
        identity: Some(ClientIdentity {
            certificate: certificate.to_owned(),
            key: key.map(Path::to_owned),
        }),
        ..TlsSettings::default()
    };
    clients().get(&tls).unwrap_err()
}

#[test]
fn what_is_wrong_is_told_with_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let issued = Authority::new().issue(&["client"]);
    let other = Authority::new().issue(&["client"]);
    let pem = |kind: &str| format!("-----BEGIN {kind}-----\naGVsbG8=\n-----END {kind}-----\n");
    for (name, content) in [
        ("certificate", issued.certificate.as_str()),
        ("key", &issued.key),
        ("other", &other.key),
        ("text", "nothing of interest\n"),
        ("cut", &issued.certificate[..200]),
        ("odd", &pem("CERTIFICATE")),
        ("odd_key", &pem("PRIVATE KEY")),
        ("locked", &pem("ENCRYPTED PRIVATE KEY")),
    ] {
        fs::write(directory.path().join(name), content).unwrap();
    }
    let path = |name: &str| directory.path().join(name);
    let authorities = |name| authorities(&path(name));
    let alone = |name| identity(&path(name), None);
    let pair = |name, key| identity(&path(name), Some(&path(key)));
    for (error, says) in [
        (authorities("missing"), "cannot read @missing: "),
        (
            authorities("text"),
            "@text holds no certificate; it must be in PEM format",
        ),
        (
            authorities("key"),
            "@key holds no certificate; it must be in PEM format",
        ),
        (
            authorities("cut"),
            "@cut holds a certificate that cannot be used: ",
        ),
        (
            authorities("odd"),
            "@odd holds a certificate that cannot be used: ",
        ),
        (alone("missing"), "cannot read @missing: "),
        (pair("certificate", "missing"), "cannot read @missing: "),
        (
            alone("certificate"),
            "@certificate holds no private key; it must be in PEM format",
        ),
        (pair("certificate", "text"), "@text holds no private key"),
        (
            pair("certificate", "locked"),
            "the private key in @locked is encrypted; ",
        ),
        (
            pair("certificate", "odd_key"),
            "@odd_key holds a private key that cannot be used: ",
        ),
        (
            pair("odd", "key"),
            "@odd holds a certificate that cannot be used: ",
        ),
        (
            pair("certificate", "other"),
            "the private key in @other does not belong to the certificate in @certificate",
        ),
    ] {
        let expected = says.replace('@', &format!("{}/", directory.path().display()));
        let text = error.to_string();
        assert!(text.starts_with(&expected), "{text}\n{expected}");
    }
}

#[test]
fn settings_without_files_read_none() {
    let clients = clients();
    clients.get(&TlsSettings::default()).unwrap();
    let careless = TlsSettings {
        verify: false,
        ..TlsSettings::default()
    };
    clients.get(&careless).unwrap();
}
