//! A server to log in to, a place to keep logins, and a clock that stands still until it is set.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::header::LOCATION;
use http::{Request, Response};
use openclaw_config::Environment;
use openclaw_http::{Http, HttpSettings};
use openclaw_secret_stores::Keyring;
use openclaw_secrets::{Redactor, Secret};
use openclaw_state::{StateDirectory, layout};
use openclaw_testkit::fake_login::FakeLogin;
use openclaw_testkit::leaks::eventually;
use tempfile::TempDir;
use url::Url;

use super::resource;
use crate::challenge::Challenge;
use crate::clock::Clock;
use crate::error::OAuthError;
use crate::keeper::{AccessToken, Keeper};
use crate::kept::{KeptGrant, KeptLogins, LoginStore, ServerLogins};
use crate::login::{Arrival, LoggedIn, LoginDesk, RunningLogin};
use crate::resource::{ConfiguredKeys, KeysSource, PendingKeys, Resource};

/// How long something may take that takes no time, on a busy machine.
pub(crate) const SOON: Duration = Duration::from_secs(30);
/// When every test begins, in milliseconds since 1970.
pub(crate) const START: u64 = 1_700_000_000_000;

/// A server to log in to, and a state directory of processes that do.
pub(crate) struct Place {
    directory: TempDir,
    pub(crate) fake: FakeLogin,
    now: Arc<AtomicU64>,
    pub(crate) keys: Arc<Keys>,
}

/// What one process has of it.
pub(crate) struct Process {
    pub(crate) store: LoginStore,
    pub(crate) logins: ServerLogins,
    pub(crate) desk: LoginDesk,
    pub(crate) keeper: Arc<Keeper>,
    pub(crate) redactor: Redactor,
}

/// The keys of the configured client, which may change.
#[derive(Default)]
pub(crate) struct Keys(Mutex<ConfiguredKeys>);

impl Keys {
    pub(crate) fn set_secret(&self, secret: &str) {
        self.0.lock().unwrap().secret = Some(Secret::new(secret));
    }
}

impl KeysSource for Keys {
    fn keys(&self) -> PendingKeys<'_> {
        let keys = self.0.lock().unwrap().clone();
        Box::pin(async { Ok(keys) })
    }
}

impl Place {
    /// Flags are those of the fake server.
    pub(crate) fn new(flags: &str) -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            fake: FakeLogin::start(flags).unwrap(),
            now: Arc::new(AtomicU64::new(START)),
            keys: Arc::default(),
        }
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.directory.path().join("state")
    }

    /// Where the files for logins are.
    pub(crate) fn tokens(&self) -> PathBuf {
        self.state().join(layout::TOKENS)
    }

    pub(crate) fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    pub(crate) fn set_clock(&self, now: u64) {
        self.now.store(now, Ordering::Relaxed);
    }

    /// Lets milliseconds pass.
    pub(crate) fn pass(&self, time: u64) {
        self.now.fetch_add(time, Ordering::Relaxed);
    }

    /// The server, about which the configuration says nothing but its address.
    pub(crate) fn resource(&self) -> Resource {
        resource(&self.fake.url())
    }

    /// A process that has just started.
    pub(crate) fn process(&self) -> Process {
        self.process_for(self.resource())
    }

    /// A process with another configuration.
    pub(crate) fn process_for(&self, resource: Resource) -> Process {
        let address = [("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus")];
        let keyring = Keyring::new(&Environment::new(address, None, "/".as_ref()));
        let store = LoginStore::new(StateDirectory::open(&self.state()).unwrap(), keyring);
        let logins = store.of(&resource.server, &resource.url);
        let redactor = Redactor::new();
        let now = Arc::clone(&self.now);
        let clock = Clock::new(move || now.load(Ordering::Relaxed));
        Process {
            desk: LoginDesk::new(
                resource.clone(),
                &store,
                self.keys.clone(),
                redactor.clone(),
                clock.clone(),
            ),
            keeper: Keeper::new(
                resource,
                logins.clone(),
                self.keys.clone(),
                redactor.clone(),
                clock,
            ),
            store,
            logins,
            redactor,
        }
    }

    /// A process that somebody has logged in with.
    pub(crate) async fn logged_in(&self) -> Process {
        let process = self.process();
        process.log_in().await;
        process
    }

    /// How many requests have come to the token endpoint.
    pub(crate) fn token_requests(&self) -> u64 {
        self.fake.counters().token_requests
    }

    /// How many refresh tokens have come to it.
    pub(crate) fn refresh_requests(&self) -> u64 {
        self.fake.counters().refreshes_arrived
    }

    /// Waits until so many refresh tokens have come.
    pub(crate) async fn until_refreshes(&self, count: u64) {
        let have_come = || self.refresh_requests() >= count;
        assert!(
            eventually(SOON, have_come).await,
            "{}",
            self.refresh_requests()
        );
    }

    /// Whether the server lets somebody pass who shows this.
    pub(crate) async fn takes(&self, token: &AccessToken) -> bool {
        let bearer = format!("Bearer {}", token.secret().expose());
        let request = Request::post(self.fake.url()).header("authorization", bearer);
        let answer = send(request.body(Bytes::from_static(b"{}")).unwrap()).await;
        answer.status() != 401
    }
}

impl Process {
    /// Begins a login as a command does for a person.
    pub(crate) async fn begin(&self) -> RunningLogin {
        let challenge = Challenge::default();
        let begun = self.desk.begin(&challenge, Arrival::Here, true);
        Box::pin(begun).await.unwrap()
    }

    /// Logs in, all at once.
    pub(crate) async fn log_in(&self) -> LoggedIn {
        let running = self.begin().await;
        let brought = visit(&running.begun().url).await;
        self.finish(&brought).await.unwrap()
    }

    /// Ends a login with what the browser was sent to.
    pub(crate) async fn finish(&self, brought: &Url) -> Result<LoggedIn, OAuthError> {
        self.desk.finish(&Secret::new(brought.as_str())).await
    }

    /// The token, which has to be there.
    pub(crate) async fn token(&self) -> AccessToken {
        self.keeper.token().await.unwrap().unwrap()
    }

    pub(crate) async fn kept(&self) -> KeptLogins {
        self.logins.read().await.unwrap().1
    }

    pub(crate) async fn grant(&self) -> KeptGrant {
        self.kept().await.grant.unwrap()
    }
}

/// Opens an address as a browser does whose person agrees, and says where it was sent to.
pub(crate) async fn visit(url: &Url) -> Url {
    let answer = get(url).await;
    assert!(answer.status().is_redirection(), "{}", answer.status());
    answer.headers()[LOCATION]
        .to_str()
        .unwrap()
        .parse()
        .unwrap()
}

/// Opens an address.
pub(crate) async fn get(url: &Url) -> Response<Bytes> {
    send(Request::get(url.as_str()).body(Bytes::new()).unwrap()).await
}

async fn send(request: Request<Bytes>) -> Response<Bytes> {
    let http = Http::new(HttpSettings::default());
    Box::pin(http.send(request)).await.unwrap()
}
