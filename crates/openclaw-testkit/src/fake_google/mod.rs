//! A stand-in for Google's Secret Manager and for everything that gives access tokens for it:
//! accounts of users and services, other identity providers, accounts that are borrowed, and the
//! metadata service of a machine.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `files` | the files that credentials are kept in | whether they are accepted |
//! | `tokens` | giving tokens, and checking them | secrets |
//! | `assertion` | the tokens that service accounts sign themselves | other tokens |
//! | `secrets` | secrets, and the ways not to give them | tokens |

mod assertion;
mod files;
mod secrets;
mod tokens;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use files::SUBJECT_TOKEN;

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
    /// The place that gives tokens does not answer.
    TokensHang,
    /// A token is given for longer than there is time.
    TokensForEver,
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
    /// How long tokens are good, in seconds.
    life: u64,
}

impl FakeGoogle {
    /// Starts it, without secrets.
    pub fn start() -> io::Result<Self> {
        let state = Arc::new(Mutex::new(State {
            life: 3600,
            ..State::default()
        }));
        let shared = Arc::clone(&state);
        let stand_in = StandIn::start(move |asked| lock(&shared).answer(asked))?;
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

    /// Says how long tokens are good from now on, in seconds.
    pub fn token_life(&self, seconds: u64) {
        lock(&self.state).life = seconds;
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
            "/token" => self.refreshed(asked),
            "/v1/token" => self.exchanged(asked),
            path if path.ends_with(":generateAccessToken") => self.borrowed(asked),
            path if path.ends_with(":access") => self.access(asked),
            _ => error(404, "NOT_FOUND", "there is nothing here", None),
        }
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
