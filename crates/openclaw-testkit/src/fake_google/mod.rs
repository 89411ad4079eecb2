//! A stand-in for Google's Secret Manager and for everything that gives access tokens for it:
//! accounts of users and services, other identity providers, accounts that are borrowed, and the
//! metadata service of a machine.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `files` | the files that credentials are kept in | whether they are accepted |
//! | `tokens` | giving tokens, and checking them | secrets |
//! | `assertion` | what service accounts sign | other tokens |
//! | `caller` | what those sign who are known to AWS | other tokens |
//! | `secrets` | secrets, and the ways not to give them | tokens |

mod assertion;
mod caller;
mod files;
mod secrets;
mod tokens;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

pub use files::{AWS_KEY, SUBJECT_TOKEN};
use serde_json::Value as Json;

use crate::stand_in::{Answer, Asked, StandIn};

/// The project that everything is in.
pub const PROJECT: &str = "test-project";
/// The service account of the fixtures.
pub const ACCOUNT: &str = "reader@test-project.iam.gserviceaccount.com";
/// The account that others may borrow.
pub const BORROWED_ACCOUNT: &str = "borrowed@test-project.iam.gserviceaccount.com";

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Too many requests; how many seconds to wait is said.
    Throttled(u32),
    /// The service is down.
    Down,
    /// The permission is missing.
    Forbidden,
    /// The API was never enabled.
    ServiceDisabled,
    /// The token is not for this.
    ScopeInsufficient,
    /// There is no answer.
    Hang,
    /// The answer does not end soon.
    Huge,
    /// The checksum is of another secret.
    WrongChecksum,
    /// There is an answer, in HTML.
    Html,
    /// The answer is JSON of another kind.
    OtherJson,
    /// Another server is named.
    Redirect,
    /// The place that gives tokens does not know the credentials any more.
    InvalidGrant,
    /// The place that gives tokens is down.
    TokensDown,
    /// The place that gives tokens is asked too often; how many seconds to wait is said.
    TokensThrottled(u32),
    /// The place that gives tokens does not answer.
    TokensHang,
    /// The place that gives tokens answers without one.
    NoToken,
    /// The place that gives tokens does not stop answering.
    TokensHuge,
    /// The place that gives tokens names another one.
    TokensRedirect,
    /// The account may not be borrowed.
    MayNotBorrow,
}

impl Fault {
    /// Whether it is those who give tokens that it happens to.
    fn is_about_tokens(self) -> bool {
        matches!(
            self,
            Self::InvalidGrant
                | Self::TokensDown
                | Self::TokensThrottled(_)
                | Self::TokensHang
                | Self::NoToken
                | Self::TokensHuge
                | Self::TokensRedirect
                | Self::MayNotBorrow
        )
    }
}

/// The state of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionState {
    /// It can be read.
    Enabled,
    /// It can't be read for now.
    Disabled,
    /// It is gone.
    Destroyed,
}

/// The stand-in.
pub struct FakeGoogle {
    stand_in: StandIn,
    state: Arc<Mutex<State>>,
}

/// What the stand-in knows.
#[derive(Default)]
struct State {
    /// Secrets by project and name, then their versions.
    secrets: BTreeMap<(String, String), Vec<secrets::Version>>,
    /// Tokens that were given and are still good.
    tokens: Vec<String>,
    /// How many tokens were given.
    given: usize,
    /// What goes wrong, and how often still.
    faults: Vec<(Fault, usize)>,
    /// What is said about how long tokens are good.
    life: Json,
    /// What is said about when the token of an account that is borrowed ends.
    borrowed_until: String,
    /// By how many seconds the clock here is ahead of the others.
    ahead: i64,
    /// Whether only tokens count that were given here.
    only_given: bool,
    /// Where this is.
    origin: String,
}

impl FakeGoogle {
    /// Starts it, without secrets.
    pub fn start() -> io::Result<Self> {
        let state = Arc::new(Mutex::new(State {
            life: 3600.into(),
            borrowed_until: "2099-01-01T00:00:00Z".to_owned(),
            ..State::default()
        }));
        let shared = Arc::clone(&state);
        let stand_in = StandIn::start(move |asked| lock(&shared).answer(asked))?;
        lock(&state).origin = stand_in.origin();
        Ok(Self { stand_in, state })
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> String {
        self.stand_in.origin()
    }

    /// Host and port, as the variable for the metadata service has them.
    pub fn metadata_host(&self) -> String {
        self.stand_in.address().to_string()
    }

    /// Adds a version to a secret; the first one is number 1.
    pub fn add(&self, project: &str, name: &str, value: impl Into<Vec<u8>>) {
        self.add_in(project, name, value, VersionState::Enabled);
    }

    /// Adds a version that is in some state.
    pub fn add_in(
        &self,
        project: &str,
        name: &str,
        value: impl Into<Vec<u8>>,
        version_state: VersionState,
    ) {
        let mut state = lock(&self.state);
        let place = (project.to_owned(), name.to_owned());
        let versions = state.secrets.entry(place).or_default();
        versions.push(secrets::Version {
            value: value.into(),
            state: version_state,
        });
    }

    /// Lets something go wrong the next times.
    pub fn fail(&self, fault: Fault, times: usize) {
        lock(&self.state).faults.push((fault, times));
    }

    /// Makes all tokens that were given so far useless.
    pub fn revoke_tokens(&self) {
        lock(&self.state).tokens.clear();
    }

    /// Says how long tokens are said to be good from now on; `null` says nothing.
    pub fn token_life(&self, life: impl Into<Json>) {
        lock(&self.state).life = life.into();
    }

    /// Says when tokens of an account that is borrowed are said to end from now on.
    pub fn borrowed_until(&self, time: &str) {
        time.clone_into(&mut lock(&self.state).borrowed_until);
    }

    /// Lets the clock here be ahead of the others, or behind.
    pub fn set_clock(&self, seconds_ahead: i64) {
        lock(&self.state).ahead = seconds_ahead;
    }

    /// Takes no tokens any more that service accounts signed themselves.
    pub fn take_only_given_tokens(&self) {
        lock(&self.state).only_given = true;
    }

    /// The tokens that are good now.
    pub fn tokens(&self) -> Vec<String> {
        lock(&self.state).tokens.clone()
    }

    /// Gives a token, for a client that gets it in another way.
    pub fn give_token(&self) -> String {
        lock(&self.state).give_token()
    }

    /// How many tokens were given.
    pub fn tokens_given(&self) -> usize {
        lock(&self.state).given
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.stand_in.asked()
    }

    /// The requests for secrets so far.
    pub fn accesses(&self) -> Vec<Asked> {
        let asked = self.asked().into_iter();
        asked
            .filter(|asked| asked.path.ends_with(":access"))
            .collect()
    }
}

impl State {
    fn answer(&mut self, asked: &Asked) -> Answer {
        if let Some(path) = asked.path.strip_prefix("/computeMetadata/v1/") {
            return self.metadata(path, asked);
        }
        match asked.path.as_str() {
            "/token" => self.granted(asked),
            "/v1/token" => self.exchanged(asked),
            path if path.starts_with("/subject") => tokens::subject(asked),
            path if path.ends_with(":generateAccessToken") => self.borrowed(asked),
            path if path.ends_with(":access") => self.access(asked),
            _ => error(404, "NOT_FOUND", "there is nothing here", None),
        }
    }

    /// What the clock here says.
    fn now(&self) -> i64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_secs();
        i64::try_from(now).unwrap_or(i64::MAX) + self.ahead
    }

    /// Whether one of these goes wrong now. It counts as having gone wrong.
    fn fault(&mut self, possible: impl Fn(Fault) -> bool) -> Option<Fault> {
        let next = self
            .faults
            .iter_mut()
            .find(|(fault, left)| *left > 0 && possible(*fault))?;
        next.1 -= 1;
        Some(next.0)
    }
}

/// An error as Google's services write it (`google.rpc.Status` in JSON).
fn error(code: u16, status: &str, message: &str, reason: Option<&str>) -> Answer {
    let details: Vec<_> = reason
        .into_iter()
        .map(|reason| {
            serde_json::json!({
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": reason,
                "domain": "googleapis.com",
            })
        })
        .collect();
    let body = serde_json::json!({
        "error": { "code": code, "message": message, "status": status, "details": details },
    });
    Answer::json(code, &body)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
