//! A fake authorization server and a fake MCP server that it protects, as one program or as a part
//! of a test: correct and strict unless a flag says otherwise.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `options` | the command line | what the flags do |
//! | `places` | which address is whose | |
//! | `world` | everything that both servers know, behind one lock | waiting |
//! | `grants` | codes and tokens, and what became of them | requests |
//! | `metadata` | what both servers say about themselves | |
//! | `clients` | who is known, and registration | proofs |
//! | `identity`, `assertion`, `public_key` | how clients prove who they are | what they may do |
//! | `authorize` | the browser's side | tokens |
//! | `token` | giving tokens and taking them back | the browser's side |
//! | `gate` | who may pass to the MCP server | the MCP server |
//! | `form` | parameters of requests, and errors | |
//! | `control` | what tests may ask and change | |
//! | `serving` | the sockets, and who answers | what is answered |
//! | `program` | the process | |

mod assertion;
mod authorize;
mod clients;
mod control;
mod form;
mod gate;
mod grants;
mod identity;
mod metadata;
mod options;
mod places;
mod program;
mod public_key;
mod serving;
mod token;
mod world;

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

pub use self::program::main;
pub use self::world::Counters;

use self::options::Options;
use self::places::{MCP, Places, SECOND};
use self::serving::{Servers, Shared};
use crate::stand_in::Asked;

/// The scope that the tool of the same name needs.
const ADMIN: &str = "admin";
/// The scope that refresh tokens may need (`OpenID` Connect Core §11).
const OFFLINE: &str = "offline_access";
/// The status that stands for no answer at all.
const HANG_UP: u16 = 444;

/// Both servers, until this is dropped.
///
/// Flags are words with spaces between them, the same as those of the program: its `--help` tells
/// what they are. Those of the fake MCP server come after `--`.
pub struct FakeLogin {
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl FakeLogin {
    /// Starts both servers on loopback, without TLS.
    pub fn start(flags: &str) -> io::Result<Self> {
        Self::run(flags, None)
    }

    /// Starts both servers with TLS.
    pub fn start_with_tls(acceptor: TlsAcceptor, flags: &str) -> io::Result<Self> {
        Self::run(flags, Some(acceptor))
    }

    fn run(flags: &str, tls: Option<TlsAcceptor>) -> io::Result<Self> {
        let options = Options::read(flags).map_err(io::Error::other)?;
        let servers = Servers::new(options, tls)?;
        let shared = Arc::clone(&servers.shared);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            runtime.block_on(async move {
                tokio::select! {
                    _ = stopped => {}
                    _ = servers.run() => {}
                }
            });
        });
        Ok(Self {
            shared,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    fn places(&self) -> Places {
        self.shared.world().places.clone()
    }

    /// The address of the MCP server.
    pub fn url(&self) -> String {
        self.places().server(MCP)
    }

    /// The address of the same server as another resource, which wants tokens of its own.
    pub fn second_url(&self) -> String {
        self.places().server(SECOND)
    }

    /// The address of HTTP+SSE, which is there with the flags `-- --both`.
    pub fn sse_url(&self) -> String {
        self.places().server("/sse")
    }

    /// The issuer, as the metadata name it when they are right.
    pub fn issuer(&self) -> String {
        let world = self.shared.world();
        world.places.issuer(&world.options)
    }

    /// Scheme, host and port of the authorization server.
    pub fn login_origin(&self) -> String {
        self.places().login
    }

    /// How often what happened.
    pub fn counters(&self) -> Counters {
        self.shared.world().counters()
    }

    /// What both servers were asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.world().asked.clone()
    }

    /// Takes these flags in place of all that it had. What was granted stays, and so do clients.
    pub fn set_flags(&self, flags: &str) -> io::Result<()> {
        let options = Options::read(flags).map_err(io::Error::other)?;
        self.shared.world().change(options)
    }

    /// Makes a client known that signs with the other half of this public key, in PEM.
    pub fn add_key(&self, client: &str, public_key: &str) -> io::Result<()> {
        self.shared.world().add_key(client, public_key)
    }

    /// Ends all access tokens; refresh tokens stay.
    pub fn revoke_access(&self) {
        self.shared.world().grants.revoke_all_access();
    }

    /// Ends all logins.
    pub fn revoke_all(&self) {
        self.shared.world().grants.revoke_all();
    }

    /// Forgets the clients that registered themselves.
    pub fn forget_clients(&self) {
        self.shared.world().forget_clients();
    }
}

impl Drop for FakeLogin {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}
