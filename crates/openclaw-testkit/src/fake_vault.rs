//! A stand-in for Vault, written from the reference of its HTTP interface: key-value engines of both
//! versions, tokens with policies, `AppRole`, namespaces, and everything that can be wrong with it.

mod answers;
mod engine;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value as Json;
use tokio_rustls::TlsAcceptor;

use crate::stand_in::{Answer, Asked, StandIn};
use engine::Engine;
pub use engine::Kind;

/// A server that runs until this is dropped.
pub struct FakeVault {
    world: Arc<Mutex<World>>,
    server: StandIn,
}

/// Everything that the server knows. A test may change it at any time.
#[derive(Default)]
pub struct World {
    /// The engines, by namespace and mount.
    engines: BTreeMap<(String, String), Engine>,
    /// What tokens allow: paths, at the end of which `*` stands for anything.
    tokens: BTreeMap<String, Vec<String>>,
    /// Who can log in, by role id.
    roles: BTreeMap<String, Role>,
    /// How many have tried to log in.
    logins: usize,
    /// How it is.
    pub condition: Condition,
    /// Whether it says what is mounted where.
    pub preflight: Preflight,
    /// Whether it says that nobody knows a token, as newer servers do.
    pub says_invalid_token: bool,
    /// What is answered to the next requests, whatever they are.
    pub next: VecDeque<Answer>,
    /// What is answered to all requests whose path contains this.
    pub always: Option<(String, Answer)>,
}

/// How a server is.
#[derive(Clone, Debug, Default)]
pub enum Condition {
    /// As it should be.
    #[default]
    Ready,
    /// It was started, and nobody has given it the key.
    Sealed,
    /// It has never had a key.
    Uninitialised,
    /// Another one is active: requests are sent on to this address.
    Standby(String),
    /// Another one should be active, and there is none.
    StandbyAlone,
}

/// Whether a server says what is mounted where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preflight {
    /// To those who can read something there.
    #[default]
    On,
    /// To nobody.
    Denied,
    /// It is so old that it does not know the question.
    Absent,
}

/// Who can log in.
struct Role {
    namespace: String,
    mount: String,
    secret: String,
    /// How many seconds a token is good for; none for ever.
    lease: u64,
    allowed: Vec<String>,
}

impl FakeVault {
    /// Starts a server without TLS.
    pub fn start() -> io::Result<Self> {
        Self::run(|world| StandIn::start(world))
    }

    /// Starts a server with TLS.
    pub fn start_with_tls(acceptor: TlsAcceptor) -> io::Result<Self> {
        Self::run(|world| StandIn::start_with_tls(acceptor, world))
    }

    fn run(
        start: impl FnOnce(Box<dyn Fn(&Asked) -> Answer + Send + Sync>) -> io::Result<StandIn>,
    ) -> io::Result<Self> {
        let world = Arc::new(Mutex::new(World {
            says_invalid_token: true,
            ..World::default()
        }));
        let seen = Arc::clone(&world);
        let server = start(Box::new(move |asked| lock(&seen).answer(asked)))?;
        Ok(Self { world, server })
    }

    /// What it knows, to be changed.
    pub fn world(&self) -> MutexGuard<'_, World> {
        lock(&self.world)
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> String {
        self.server.origin()
    }

    /// Ends all connections, and secures new ones with this from now on.
    pub fn secure_with(&self, acceptor: TlsAcceptor) {
        self.server.secure_with(acceptor);
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.server.asked()
    }

    /// The paths that it was asked for so far, as they were written.
    pub fn paths(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.path).collect()
    }

    /// How many have tried to log in.
    pub fn logins(&self) -> usize {
        self.world().logins
    }
}

impl World {
    /// Mounts an engine.
    pub fn mount(&mut self, mount: &str, kind: Kind) {
        self.mount_in("", mount, kind);
    }

    /// Mounts an engine in a namespace.
    pub fn mount_in(&mut self, namespace: &str, mount: &str, kind: Kind) {
        let place = (namespace.to_owned(), mount.to_owned());
        self.engines.insert(place, Engine::new(kind));
    }

    /// Gives versions to the secrets of an engine.
    pub fn give_versions(&mut self, mount: &str) {
        let place = (String::new(), mount.to_owned());
        if let Some(engine) = self.engines.get_mut(&place) {
            engine.give_versions();
        }
    }

    /// Puts a secret, or a new version of it.
    pub fn put(&mut self, mount: &str, path: &str, fields: Json) {
        self.put_in("", mount, path, fields);
    }

    /// Puts a secret into an engine of a namespace.
    pub fn put_in(&mut self, namespace: &str, mount: &str, path: &str, fields: Json) {
        let place = (namespace.to_owned(), mount.to_owned());
        if let Some(engine) = self.engines.get_mut(&place) {
            engine.put(path, fields);
        }
    }

    /// Deletes the last version of a secret, or destroys it.
    pub fn remove(&mut self, mount: &str, path: &str, for_ever: bool) {
        let place = (String::new(), mount.to_owned());
        if let Some(engine) = self.engines.get_mut(&place) {
            engine.remove(path, for_ever);
        }
    }

    /// Makes a token that allows to read these paths; `*` at the end stands for anything.
    pub fn allow(&mut self, token: &str, paths: &[&str]) {
        let paths = paths.iter().map(|path| (*path).to_owned());
        self.tokens.insert(token.to_owned(), paths.collect());
    }

    /// Ends a token, before its time or at it.
    pub fn revoke(&mut self, token: &str) {
        self.tokens.remove(token);
    }

    /// Ends all tokens.
    pub fn revoke_all(&mut self) {
        self.tokens.clear();
    }

    /// Lets somebody log in at `auth/approle`, for tokens with a lease of so many seconds.
    pub fn role(&mut self, id: &str, secret: &str, lease: u64, paths: &[&str]) {
        self.role_in("", "approle", id, secret, lease, paths);
    }

    /// Lets somebody log in elsewhere.
    pub fn role_in(
        &mut self,
        namespace: &str,
        mount: &str,
        id: &str,
        secret: &str,
        lease: u64,
        paths: &[&str],
    ) {
        let role = Role {
            namespace: namespace.to_owned(),
            mount: mount.to_owned(),
            secret: secret.to_owned(),
            lease,
            allowed: paths.iter().map(|path| (*path).to_owned()).collect(),
        };
        self.roles.insert(id.to_owned(), role);
    }
}

fn lock(world: &Mutex<World>) -> MutexGuard<'_, World> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}
