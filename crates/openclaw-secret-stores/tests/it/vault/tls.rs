//! Certificates: of authorities, and our own.

use std::path::{Path, PathBuf};

use openclaw_secret_stores::{SecretError, SecretErrorKind};
use openclaw_testkit::certificates::Authority;
use openclaw_testkit::fake_vault::FakeVault;

use super::{TOKEN, assert_says, furnished, house, vault};

/// A server with TLS, and files with certificates.
struct Secured {
    vault: FakeVault,
    authority: Authority,
    files: tempfile::TempDir,
}

impl Secured {
    /// A server that wants to see certificates of clients, or not.
    fn new(asks: bool) -> Self {
        let authority = Authority::new().unwrap();
        let issued = authority.issue("127.0.0.1").unwrap();
        let acceptor = issued.acceptor(asks.then_some(&authority)).unwrap();
        Self {
            vault: furnished(FakeVault::start_with_tls(acceptor).unwrap()),
            authority,
            files: tempfile::tempdir().unwrap(),
        }
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.files.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    async fn get(&self, variables: &[(&str, &Path)]) -> Result<String, SecretError> {
        let mut all = vec![("VAULT_TOKEN", TOKEN)];
        let paths = variables.iter();
        all.extend(paths.map(|(name, path)| (*name, path.to_str().unwrap())));
        house(&self.vault, &all)
            .get("secret://vault/secret/app")
            .await
    }
}

#[tokio::test]
async fn an_authority_of_our_own_is_needed() {
    let secured = Secured::new(false);
    let error = secured.get(&[]).await.unwrap_err();
    let words = [&secured.vault.origin(), "UnknownIssuer", "`VAULT_CACERT`"];
    assert_says(&error, SecretErrorKind::Misconfigured, &words);
    assert!(!error.to_string().contains("VAULT_SKIP_VERIFY"), "{error}");
    let other = Authority::new().unwrap().pem();
    let other = secured.file("other.pem", &other);
    let error = secured.get(&[("VAULT_CACERT", &other)]).await.unwrap_err();
    assert_says(&error, SecretErrorKind::Misconfigured, &["UnknownIssuer"]);
    assert!(secured.vault.asked().is_empty());

    // Beside others in the same file.
    let bundle = format!(
        "our authorities\n{}{}",
        Authority::new().unwrap().pem(),
        secured.authority.pem()
    );
    let bundle = secured.file("ca.pem", &bundle);
    let found = secured.get(&[("VAULT_CACERT", &bundle)]).await;
    assert_eq!(found.unwrap(), "of version two");
}

#[tokio::test]
async fn a_directory_of_authorities_will_do() {
    let secured = Secured::new(false);
    secured.file("authorities/1.pem", &Authority::new().unwrap().pem());
    secured.file("authorities/README", "nothing to see here");
    secured.file("authorities/below/3.pem", "not looked at");
    let directory = secured.files.path().join("authorities");
    let error = secured.get(&[("VAULT_CAPATH", &directory)]).await;
    assert_says(
        &error.unwrap_err(),
        SecretErrorKind::Misconfigured,
        &["UnknownIssuer"],
    );
    let second = secured.file("authorities/2.pem", &secured.authority.pem());
    let found = secured.get(&[("VAULT_CAPATH", &directory)]).await;
    assert_eq!(found.unwrap(), "of version two");
    // The file goes before the directory.
    let first = directory.join("1.pem");
    let both = [
        ("VAULT_CAPATH", directory.as_path()),
        ("VAULT_CACERT", &first),
    ];
    assert!(secured.get(&both).await.is_err());
    let both = [
        ("VAULT_CAPATH", directory.as_path()),
        ("VAULT_CACERT", &second),
    ];
    assert!(secured.get(&both).await.is_ok());
}

#[tokio::test]
async fn whom_to_trust_is_always_checked() {
    let secured = Secured::new(false);
    for (value, is_mentioned) in [("1", true), ("true", true), ("false", false), ("0", false)] {
        let variable = ("VAULT_SKIP_VERIFY", Path::new(value));
        let error = secured.get(&[variable]).await.unwrap_err();
        assert_says(&error, SecretErrorKind::Misconfigured, &["`VAULT_CACERT`"]);
        let words = "`VAULT_SKIP_VERIFY` is not supported";
        assert_eq!(error.to_string().contains(words), is_mentioned, "{error}");
    }
    assert!(secured.vault.asked().is_empty());
    // It does no harm where it is not needed.
    let authority = secured.file("ca.pem", &secured.authority.pem());
    let both = [
        ("VAULT_SKIP_VERIFY", Path::new("1")),
        ("VAULT_CACERT", &authority),
    ];
    assert!(secured.get(&both).await.is_ok());
}

#[tokio::test]
async fn a_certificate_of_our_own_is_shown() {
    let secured = Secured::new(true);
    let authority = secured.file("ca.pem", &secured.authority.pem());
    let error = secured.get(&[("VAULT_CACERT", &authority)]).await;
    let words = [
        "CertificateRequired",
        "`VAULT_CLIENT_CERT` and `VAULT_CLIENT_KEY`",
    ];
    assert_says(&error.unwrap_err(), SecretErrorKind::Misconfigured, &words);
    assert!(secured.vault.asked().is_empty());

    let client = secured.authority.issue("client").unwrap();
    let certificate = secured.file("client.pem", &client.certificate);
    let key = secured.file("client.key", &client.key);
    let variables = [
        ("VAULT_CACERT", authority.as_path()),
        ("VAULT_CLIENT_CERT", &certificate),
        ("VAULT_CLIENT_KEY", &key),
    ];
    assert_eq!(secured.get(&variables).await.unwrap(), "of version two");
}

#[tokio::test]
async fn the_file_that_is_wrong_is_named() {
    let secured = Secured::new(false);
    let client = secured.authority.issue("client").unwrap();
    let other = secured.authority.issue("other").unwrap();
    let certificate = secured.file("client.pem", &client.certificate);
    let key = secured.file("client.key", &client.key);
    let other_key = secured.file("other.key", &other.key);
    let text = secured.file("text.pem", "no certificate");
    let cut = client.certificate.get(..200).unwrap();
    let cut = secured.file("cut.pem", cut);
    let wrong = "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n";
    let wrong = secured.file("wrong.pem", wrong);
    let nowhere = secured.files.path().join("nowhere");
    let empty = secured.files.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let pair = |certificate, key| {
        vec![
            ("VAULT_CLIENT_CERT", certificate),
            ("VAULT_CLIENT_KEY", key),
        ]
    };
    for (variables, words) in [
        (
            vec![("VAULT_CACERT", &nowhere)],
            vec!["nowhere of `VAULT_CACERT`", "No such file"],
        ),
        (
            vec![("VAULT_CACERT", &empty)],
            vec!["empty of `VAULT_CACERT`", "not a file"],
        ),
        (
            vec![("VAULT_CACERT", &text)],
            vec!["text.pem of `VAULT_CACERT`", "no certificate"],
        ),
        (
            vec![("VAULT_CACERT", &cut)],
            vec!["cut.pem of `VAULT_CACERT`"],
        ),
        (
            vec![("VAULT_CACERT", &wrong)],
            vec!["wrong.pem of `VAULT_CACERT`"],
        ),
        (
            vec![("VAULT_CAPATH", &nowhere)],
            vec!["nowhere of `VAULT_CAPATH`"],
        ),
        (
            vec![("VAULT_CAPATH", &empty)],
            vec!["empty of `VAULT_CAPATH`", "no file in it"],
        ),
        (pair(&nowhere, &key), vec!["nowhere of `VAULT_CLIENT_CERT`"]),
        (
            pair(&text, &key),
            vec!["text.pem of `VAULT_CLIENT_CERT`", "no certificate"],
        ),
        (
            pair(&certificate, &nowhere),
            vec!["nowhere of `VAULT_CLIENT_KEY`"],
        ),
        (
            pair(&certificate, &certificate),
            vec!["client.pem of `VAULT_CLIENT_KEY`", "no private key"],
        ),
        (
            pair(&certificate, &other_key),
            vec!["other.key of `VAULT_CLIENT_KEY`", "client.pem"],
        ),
        (
            vec![("VAULT_CLIENT_CERT", &certificate)],
            vec!["`VAULT_CLIENT_CERT` is set without `VAULT_CLIENT_KEY`"],
        ),
        (
            vec![("VAULT_CLIENT_KEY", &key)],
            vec!["`VAULT_CLIENT_KEY` is set without `VAULT_CLIENT_CERT`"],
        ),
    ] {
        let variables: Vec<_> = variables
            .iter()
            .map(|(name, path)| (*name, path.as_path()))
            .collect();
        let error = secured.get(&variables).await.unwrap_err();
        assert_says(&error, SecretErrorKind::Misconfigured, &words);
    }
    assert!(secured.vault.asked().is_empty());
}

#[tokio::test]
async fn certificates_are_read_when_they_are_needed() {
    // Without TLS they are not.
    let vault = vault();
    let house = house(
        &vault,
        &[("VAULT_TOKEN", TOKEN), ("VAULT_CACERT", "/nowhere")],
    );
    house.get("secret://vault/secret/app").await.unwrap();

    // And once more, after they were of no use.
    let secured = Secured::new(false);
    let file = secured.file("ca.pem", &Authority::new().unwrap().pem());
    let variables = [
        ("VAULT_TOKEN", TOKEN),
        ("VAULT_CACERT", file.to_str().unwrap()),
    ];
    let house = super::house(&secured.vault, &variables);
    assert!(house.get("secret://vault/secret/app").await.is_err());
    std::fs::write(&file, secured.authority.pem()).unwrap();
    house.get("secret://vault/secret/app").await.unwrap();
    // Not every time.
    std::fs::remove_file(&file).unwrap();
    house.get("secret://vault/secret/app").await.unwrap();
}

#[tokio::test]
async fn certificates_that_have_changed_are_read_anew_when_the_old_ones_are_refused() {
    let secured = Secured::new(true);
    let authority = secured.file("ca.pem", &secured.authority.pem());
    let write = |of: &Authority| {
        let client = of.issue("client").unwrap();
        secured.file("client.pem", &client.certificate);
        secured.file("client.key", &client.key);
    };
    write(&secured.authority);
    let [certificate, key] =
        ["client.pem", "client.key"].map(|name| secured.files.path().join(name));
    let variables = [
        ("VAULT_TOKEN", TOKEN),
        ("VAULT_CACERT", authority.to_str().unwrap()),
        ("VAULT_CLIENT_CERT", certificate.to_str().unwrap()),
        ("VAULT_CLIENT_KEY", key.to_str().unwrap()),
    ];
    let house = house(&secured.vault, &variables);
    house.get("secret://vault/secret/app").await.unwrap();

    // The server wants others now, and there are others.
    let other = Authority::new().unwrap();
    let issued = secured.authority.issue("127.0.0.1").unwrap();
    let acceptor = |clients| issued.acceptor(Some(clients)).unwrap();
    secured.vault.secure_with(acceptor(&other));
    write(&other);
    let references = ["secret://vault/secret/app", "secret://vault/kv/app"];
    for found in house.resolve(&references).await {
        found.unwrap();
    }
    // Those are of no use for long, and there are only worse ones.
    secured.vault.secure_with(acceptor(&secured.authority));
    write(&Authority::new().unwrap());
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    let words = ["can't be secured", "`VAULT_CLIENT_CERT`"];
    assert_says(&error, SecretErrorKind::Misconfigured, &words);
}

#[tokio::test]
async fn a_server_without_tls_is_said_to_be_that() {
    let vault = vault();
    let address = vault.origin().replace("http://", "https://");
    let variables = [("VAULT_ADDR", address.as_str()), ("VAULT_TOKEN", TOKEN)];
    let house = crate::house::House::new(&variables);
    let error = house.get("secret://vault/secret/app").await.unwrap_err();
    let words = ["can't be secured", "may not speak TLS"];
    assert_says(&error, SecretErrorKind::Misconfigured, &words);
    assert!(vault.asked().is_empty());
}
