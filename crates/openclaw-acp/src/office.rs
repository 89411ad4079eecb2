//! What all sessions share.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{ClientCapabilities, SessionId};
use agent_client_protocol::{Error, JsonRpcResponse};
use openclaw_engine::{Engine, Lender};
use openclaw_state::StateDirectory;
use tokio::sync::Mutex as AsyncMutex;
use tokio_util::sync::CancellationToken;

use crate::admission::Admission;
use crate::crew::Crew;
use crate::flow::Flow;
use crate::identifier::Identifier;
use crate::problems::{being_closed, refused, unknown_session};
use crate::sessions::Session;

/// How many sessions may be open at a time.
const MOST_SESSIONS: usize = 512;

/// What all sessions share.
pub(crate) struct Office {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) flow: Arc<Flow>,
    pub(crate) crew: Crew,
    pub(crate) admission: Admission,
    pub(crate) state: StateDirectory,
    /// The agent of new sessions.
    pub(crate) agent: Option<String>,
    pub(crate) correlation: String,
    /// Who lends the servers of editors: this process.
    pub(crate) lender: Lender,
    /// Told when the engine no longer knows that we are there; none if it was never told.
    pub(crate) lending: AsyncMutex<Option<CancellationToken>>,
    /// What the editor can do.
    client: Mutex<ClientCapabilities>,
    open: Mutex<HashMap<Identifier, Arc<Session>>>,
    /// How many turns there were.
    turns: AtomicU64,
}

impl Office {
    /// An office for a new process.
    pub(crate) fn new(
        engine: Arc<dyn Engine>,
        flow: Arc<Flow>,
        state: StateDirectory,
    ) -> io::Result<Self> {
        let lender = Lender {
            id: Identifier::random()?.to_string(),
        };
        Ok(Self {
            engine,
            flow,
            crew: Crew::default(),
            admission: Admission::default(),
            state,
            agent: None,
            correlation: String::new(),
            lender,
            lending: AsyncMutex::default(),
            client: Mutex::default(),
            open: Mutex::default(),
            turns: AtomicU64::new(0),
        })
    }

    /// Answers a request in a task of its own, if there is a place for it.
    pub(crate) fn answer<T: JsonRpcResponse + Send, F>(
        self: &Arc<Self>,
        responder: Responder<T>,
        work: impl FnOnce(Arc<Self>) -> F,
    ) where
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let admitted = match self.admission.admit() {
            Ok(admitted) => admitted,
            Err(error) => {
                // Whoever is gone needs no answer.
                let _ = responder.respond_with_error(error);
                return;
            }
        };
        let working = work(Arc::clone(self));
        self.crew.spawn(async move {
            let _admitted = admitted;
            let _ = responder.respond_with_result(working.await);
        });
    }

    /// Remembers what the editor can do.
    pub(crate) fn greet(&self, capabilities: ClientCapabilities) {
        *self.client() = capabilities;
    }

    /// What the editor can do.
    pub(crate) fn client(&self) -> MutexGuard<'_, ClientCapabilities> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the editor shows notices as such.
    pub(crate) fn shows_notices(&self) -> bool {
        let client = self.client();
        let session = client.session.as_ref();
        session.is_some_and(|session| session.notices.is_some())
    }

    /// A name that no other turn has: neither of this process, nor of another that had the same sessions.
    pub(crate) fn next_turn(&self) -> String {
        let number = self.turns.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{:.8}-{number}", self.lender.id)
    }

    /// The session of this name, which is open.
    pub(crate) fn session(&self, name: &SessionId) -> Result<Arc<Session>, Error> {
        Identifier::parse(&name.0)
            .and_then(|id| self.peek(&id))
            .filter(|session| !session.gone.is_cancelled())
            .ok_or_else(|| unknown_session(name))
    }

    /// Opens a session, in place of the one of the same name, which it goes on from and which is returned.
    pub(crate) fn enter(
        &self,
        id: Identifier,
        make: impl FnOnce(Identifier, Option<&Session>) -> Session,
    ) -> Result<(Arc<Session>, Option<Arc<Session>>), Error> {
        let mut open = self.open();
        let earlier = open.get(&id).cloned();
        if earlier.as_ref().is_some_and(|it| it.gone.is_cancelled()) {
            return Err(being_closed());
        }
        if open.len() >= MOST_SESSIONS && earlier.is_none() {
            return Err(refused(format!(
                "{MOST_SESSIONS} sessions are open, which is the most: close some of them"
            )));
        }
        let session = Arc::new(make(id.clone(), earlier.as_deref()));
        open.insert(id, Arc::clone(&session));
        Ok((session, earlier))
    }

    /// The session of this name, which is open or being closed.
    pub(crate) fn peek(&self, id: &Identifier) -> Option<Arc<Session>> {
        self.open().get(id).cloned()
    }

    /// The sessions that are open.
    pub(crate) fn sessions(&self) -> Vec<Arc<Session>> {
        let open = self.open();
        let sessions = open.values().filter(|it| !it.gone.is_cancelled());
        sessions.cloned().collect()
    }

    /// Whether a session is open or being closed, and no other one has taken its place.
    pub(crate) fn has(&self, session: &Session) -> bool {
        let open = self.open();
        open.get(&session.id).is_some_and(|it| is_same(it, session))
    }

    /// Forgets a session, unless another one has taken its place.
    pub(crate) fn leave(&self, session: &Session) {
        let mut open = self.open();
        if open.get(&session.id).is_some_and(|it| is_same(it, session)) {
            open.remove(&session.id);
        }
    }

    /// Where records of sessions are.
    pub(crate) fn state_path(&self) -> &Path {
        self.state.path()
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Identifier, Arc<Session>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_same(one: &Session, other: &Session) -> bool {
    std::ptr::eq(&raw const *one, &raw const *other)
}
