//! The whole of it, on real files.

mod bad_files;
mod crowd;
mod interrupted;
mod keys;
mod real;
mod taking;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use openclaw_config::Environment;
use openclaw_secret_stores::Keyring;
use openclaw_secrets::Secret;
use openclaw_state::{FileLock, StateDirectory, layout};
use tempfile::TempDir;
use tokio::sync::oneshot;
use url::Url;

use super::*;
use crate::client::{Authentication, Client, Registration};
use crate::error::{OAuthError, Remedy};

/// How long something may take that takes no time, on a busy machine.
const SOON: Duration = Duration::from_mins(1);
const ACCESS: &str = "access-token-5e884898da28047151d0e56f8dc62927";
const REFRESH: &str = "refresh-token-6b86b273ff34fce19d6b804eff5a3f57";

/// A state directory, on a machine without a keyring.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { directory }
    }

    fn state(&self) -> PathBuf {
        self.directory.path().join("state")
    }

    /// A store that knows nothing yet, as a process that has just started.
    fn store(&self) -> LoginStore {
        store_at(&self.state(), no_keyring())
    }

    fn with(&self, keyring: Keyring) -> LoginStore {
        store_at(&self.state(), keyring)
    }

    fn key(&self) -> PathBuf {
        self.state().join(layout::TOKENS_KEY)
    }

    /// The names of the files for logins.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.state().join(layout::TOKENS));
        let mut names: Vec<String> = entries
            .into_iter()
            .flatten()
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn store_at(state: &Path, keyring: Keyring) -> LoginStore {
    LoginStore::new(StateDirectory::open(state).unwrap(), keyring)
}

fn no_keyring() -> Keyring {
    keyring_at("unix:path=/nowhere/bus")
}

fn keyring_at(address: &str) -> Keyring {
    let variables = [("DBUS_SESSION_BUS_ADDRESS", address)];
    Keyring::new(&Environment::new(variables, None, "/".as_ref()))
}

fn url() -> Url {
    "https://example.com/mcp".parse().unwrap()
}

fn docs(store: &LoginStore) -> ServerLogins {
    store.of("docs", &url())
}

fn client() -> Client {
    Client {
        id: "client".to_owned(),
        registration: Registration::Dynamic,
        authentication: Authentication::ClientSecretBasic,
        secret: Some(Secret::new("client-secret-d4735e3a265e16eee03f5971")),
        secret_expires_at: Some(7),
    }
}

fn grant() -> KeptGrant {
    KeptGrant {
        login: "1".to_owned(),
        issuer: "https://login.example.com".to_owned(),
        client: client(),
        resource: url().to_string(),
        scopes: vec!["read".to_owned()],
        token_endpoint: url(),
        revocation_endpoint: None,
        signing_algorithms: Vec::new(),
        access_token: Secret::new(ACCESS),
        refresh_token: Some(Secret::new(REFRESH)),
        received_at: 1,
        lifetime: Some(3600),
        ended: None,
    }
}

fn pending(login: &str) -> PendingLogin {
    PendingLogin {
        login: login.to_owned(),
        state: Secret::new("state-4e07408562bedb8b60ce05c1decfe3ad"),
        verifier: Secret::new("verifier-4b227777d4dd1fc61c6f884f48641d02"),
        begun_at: 1,
        issuer: "https://login.example.com".to_owned(),
        issuer_promised: true,
        client: client(),
        resource: url().to_string(),
        scopes: Vec::new(),
        redirect_uri: "http://127.0.0.1:1/callback".to_owned(),
        token_endpoint: url(),
        revocation_endpoint: Some(url()),
        signing_algorithms: Vec::new(),
    }
}

/// Changes logins at once.
async fn change<T: Send + 'static>(
    logins: &ServerLogins,
    change: impl FnOnce(&mut KeptLogins) -> T + Send + 'static,
) -> Result<T, OAuthError> {
    logins
        .change(SOON, |kept| {
            let answer = change(kept);
            Box::pin(async { Ok(answer) })
        })
        .await
}

async fn log_in(logins: &ServerLogins) {
    change(logins, |kept| kept.grant = Some(grant()))
        .await
        .unwrap();
}

/// Takes out what is kept.
async fn take(logins: &ServerLogins) -> Option<Taken<KeptLogins>> {
    let taking = logins.take(SOON, |kept| Box::pin(async { kept }));
    taking.await.unwrap()
}

async fn has_grant(logins: &ServerLogins) -> bool {
    logins.read().await.unwrap().1.grant == Some(grant())
}

#[tokio::test]
async fn what_is_written_is_read_by_another_store_and_only_for_its_server() {
    let place = Place::new();
    let logins = docs(&place.store());
    let (stamp, kept) = logins.read().await.unwrap();
    assert!(stamp.is_absence());
    assert_eq!(kept, KeptLogins::default());
    assert_eq!(place.files(), [""; 0], "reading makes nothing");
    change(&logins, |kept| {
        kept.grant = Some(grant());
        kept.begin(pending("2"));
        kept.wanted_scopes = vec!["write".to_owned()];
    })
    .await
    .unwrap();
    let store = place.store();
    let (stamp, kept) = docs(&store).read().await.unwrap();
    assert_eq!(stamp, logins.stamp());
    assert_eq!(kept.grant, Some(grant()));
    assert_eq!(kept.pending, [pending("2")]);
    assert_eq!(kept.wanted_scopes, ["write"]);
    for other in [
        store.of("other", &url()),
        store.of("docs", &"https://example.org/mcp".parse().unwrap()),
    ] {
        let (_, kept) = other.read().await.unwrap();
        assert_eq!(kept, KeptLogins::default());
    }
}

#[tokio::test]
async fn no_part_of_a_secret_is_in_any_file() {
    let place = Place::new();
    let logins = docs(&place.store());
    log_in(&logins).await;
    change(&logins, |kept| kept.begin(pending("2")))
        .await
        .unwrap();
    let secrets = [
        ACCESS.to_owned(),
        REFRESH.to_owned(),
        client().secret.unwrap().expose().to_owned(),
        pending("2").state.expose().to_owned(),
        pending("2").verifier.expose().to_owned(),
    ];
    for name in place.files() {
        let bytes = fs::read(place.state().join(layout::TOKENS).join(&name)).unwrap();
        for secret in &secrets {
            for part in secret.as_bytes().windows(8) {
                let is_there = bytes.windows(8).any(|window| window == part);
                assert!(!is_there, "{name}: {}", String::from_utf8_lossy(part));
            }
        }
    }
    let text = fs::read_to_string(logins.path()).unwrap();
    assert!(!text.contains("example.com"), "nor whom it is for: {text}");
    assert!(!format!("{:?}", logins.read().await).contains("token-"));
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    log_in(&docs(&place.store())).await;
    assert_eq!(place.files().len(), 4, "{:?}", place.files());
    let directory = place.state().join(layout::TOKENS);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    for name in place.files() {
        assert_eq!(mode(&directory.join(&name)), 0o600, "{name}");
    }
}

#[tokio::test]
async fn a_stamp_changes_with_every_write_and_with_nothing_else() {
    let place = Place::new();
    let (ours, theirs) = (docs(&place.store()), docs(&place.store()));
    let absent = ours.stamp();
    log_in(&ours).await;
    let (first, _) = theirs.read().await.unwrap();
    assert_ne!(first, absent);
    change(&ours, |_| ()).await.unwrap();
    assert_eq!(theirs.stamp(), first, "nothing was changed");
    change(&ours, |kept| kept.wanted_scopes.push("x".to_owned()))
        .await
        .unwrap();
    let second = theirs.stamp();
    assert_ne!(second, first);
    assert!(take(&ours).await.is_some());
    assert!(take(&ours).await.is_none());
    assert_eq!(theirs.stamp(), absent);
}

#[tokio::test]
async fn where_nothing_is_left_to_keep_no_file_is_left() {
    let place = Place::new();
    let logins = docs(&place.store());
    log_in(&logins).await;
    change(&logins, |kept| kept.grant = None).await.unwrap();
    assert!(logins.stamp().is_absence());
    assert_eq!(logins.read().await.unwrap().1, KeptLogins::default());
}

#[tokio::test]
async fn a_change_that_fails_leaves_everything_as_it_was() {
    let place = Place::new();
    let logins = docs(&place.store());
    log_in(&logins).await;
    let before = logins.stamp();
    let failing = logins.change::<(), _>(SOON, |kept| {
        kept.grant = None;
        Box::pin(async { Err(OAuthError::passing("no answer")) })
    });
    let error = failing.await.unwrap_err();
    assert_eq!(error, OAuthError::passing("no answer"));
    assert_eq!(logins.stamp(), before);
    let broken = logins.change::<(), _>(SOON, |_| Box::pin(async { panic!("on purpose") }));
    let error = broken.await.unwrap_err();
    assert!(error.to_string().contains("defect"), "{error}");
    assert!(has_grant(&logins).await);
    log_in(&logins).await;
}

#[tokio::test]
async fn a_login_that_is_too_large_to_be_read_again_is_not_written() {
    let place = Place::new();
    let logins = docs(&place.store());
    log_in(&logins).await;
    let error = change(&logins, |kept| {
        let mut large = grant();
        large.access_token = Secret::new("x".repeat(900_000));
        kept.grant = Some(large);
    })
    .await
    .unwrap_err();
    assert_eq!(error.remedy(), Remedy::Change);
    assert!(error.to_string().contains("too large"), "{error}");
    assert!(has_grant(&logins).await);
}

#[tokio::test]
async fn many_changes_at_once_in_two_stores_are_made_one_after_the_other() {
    let place = Place::new();
    let stores = [place.store(), place.store()];
    let changes: Vec<_> = (0..40)
        .map(|number: usize| {
            let logins = docs(&stores[number % 2]);
            tokio::spawn(async move {
                change(&logins, move |kept| {
                    kept.wanted_scopes.push(number.to_string());
                })
                .await
            })
        })
        .collect();
    for change in changes {
        change.await.unwrap().unwrap();
    }
    let (_, mut kept) = docs(&stores[0]).read().await.unwrap();
    kept.wanted_scopes
        .sort_by_key(|it| it.parse::<usize>().unwrap());
    let all: Vec<String> = (0..40).map(|number: usize| number.to_string()).collect();
    assert_eq!(kept.wanted_scopes, all);
}
