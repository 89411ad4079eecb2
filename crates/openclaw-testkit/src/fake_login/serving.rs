//! Both servers on their sockets.

use std::io;
use std::net::TcpListener as StdListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::options::Options;
use super::places::{Endpoint, MCP, Places};
use super::world::World;
use super::{HANG_UP, control, gate};
use crate::fake_server::hosted::{Body, HangUp, Hosted};
use crate::stand_in::{Answer, Asked};

/// How large a request may be.
const LARGEST_REQUEST: usize = 16 * 1024 * 1024;
/// What the MCP server offers if nothing else is said: nothing that ends the process.
const TOOLS: &str = "echo,add,sleep,slow,headers,change_tools";

/// Both servers, before they answer anybody.
pub(super) struct Servers {
    pub(super) shared: Arc<Shared>,
    listeners: Vec<(StdListener, Side)>,
    tls: Option<TlsAcceptor>,
}

/// What all connections share.
pub(super) struct Shared {
    world: Mutex<World>,
    mcp: Hosted,
    connections: AtomicU64,
}

/// What there is at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Resource,
    Login,
    Both,
}

/// Who answers a request.
enum Routed {
    Answered(Answer),
    Login(Endpoint),
    Server,
}

impl Shared {
    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Servers {
    /// Takes ports for both.
    pub(super) fn new(options: Options, tls: Option<TlsAcceptor>) -> io::Result<Self> {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let listen = || -> io::Result<(StdListener, String)> {
            let listener = StdListener::bind(("127.0.0.1", 0))?;
            listener.set_nonblocking(true)?;
            let origin = format!("{scheme}://{}", listener.local_addr()?);
            Ok((listener, origin))
        };
        let (first, resource) = listen()?;
        let (listeners, login) = if options.login.together {
            (vec![(first, Side::Both)], resource.clone())
        } else {
            let (second, login) = listen()?;
            (vec![(first, Side::Resource), (second, Side::Login)], login)
        };
        let mut words = vec!["http".into(), "--also-tools".into(), super::ADMIN.into()];
        words.extend(options.mcp.iter().cloned());
        if !options.mcp.iter().any(|word| word == "--only-tools") {
            words.extend(["--only-tools".into(), TOOLS.into()]);
        }
        let shared = Shared {
            mcp: Hosted::new(words)?,
            world: Mutex::new(World::new(options, Places { resource, login })?),
            connections: AtomicU64::new(0),
        };
        Ok(Self {
            shared: Arc::new(shared),
            listeners,
            tls,
        })
    }

    /// Answers everybody, until this is dropped.
    pub(super) async fn run(self) -> io::Result<()> {
        let mut tasks = tokio::task::JoinSet::new();
        for (listener, side) in self.listeners {
            let listener = TcpListener::from_std(listener)?;
            tasks.spawn(accept(
                Arc::clone(&self.shared),
                listener,
                side,
                self.tls.clone(),
            ));
        }
        match tasks.join_next().await {
            Some(ended) => ended.map_err(io::Error::other)?,
            None => Ok(()),
        }
    }
}

async fn accept(
    shared: Arc<Shared>,
    listener: TcpListener,
    side: Side,
    tls: Option<TlsAcceptor>,
) -> io::Result<()> {
    let port = listener.local_addr()?.port();
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (shared, tls) = (Arc::clone(&shared), tls.clone());
        // The end of the runtime ends it.
        tokio::spawn(async move {
            match tls {
                None => serve(shared, stream, side, port).await,
                Some(tls) => {
                    if let Ok(stream) = tls.accept(stream).await {
                        serve(shared, stream, side, port).await;
                    }
                }
            }
        });
    }
}

async fn serve(
    shared: Arc<Shared>,
    stream: impl AsyncRead + AsyncWrite + Unpin,
    side: Side,
    port: u16,
) {
    let connection = shared.connections.fetch_add(1, Ordering::Relaxed) + 1;
    let service = service_fn(|request| answer(&shared, side, (connection, port), request));
    // Who goes away in the middle is no trouble of ours.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn answer(
    shared: &Arc<Shared>,
    side: Side,
    (connection, port): (u64, u16),
    request: Request<Incoming>,
) -> Result<Response<Body>, HangUp> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, LARGEST_REQUEST).collect().await;
    let mut asked = Asked {
        method: head.method,
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers: head.headers,
        // A body that breaks off gets no answer.
        body: body.map_err(|_| HangUp)?.to_bytes(),
    };
    let routed = route(&mut shared.world(), side, &asked, Instant::now());
    let answer = match routed {
        Routed::Answered(answer) => answer,
        Routed::Login(endpoint) => {
            // What has arrived takes effect, even if who sent it is killed meanwhile.
            let task = tokio::spawn(log_in(Arc::clone(shared), endpoint, asked));
            task.await.map_err(|_| HangUp)?
        }
        Routed::Server => {
            if asked.path == super::places::SECOND {
                MCP.clone_into(&mut asked.path);
            }
            return shared.mcp.answer(asked, connection, port).await;
        }
    };
    if answer.status == HANG_UP {
        return Err(HangUp);
    }
    tokio::time::sleep(answer.delay).await;
    let mut response = Response::builder().status(answer.status);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    response.body(Body::whole(answer.body)).map_err(|_| HangUp)
}

/// Finds who answers, and notes that somebody has asked.
fn route(world: &mut World, side: Side, asked: &Asked, now: Instant) -> Routed {
    if let Some(what) = asked.path.strip_prefix(control::BELOW) {
        return Routed::Answered(world.control(what, asked));
    }
    world.asked.push(asked.clone());
    if side != Side::Login {
        if let Some(server) = gate::server_at(&asked.path) {
            return match world.pass(server, asked, now) {
                Ok(()) => Routed::Server,
                Err(answer) => Routed::Answered(answer),
            };
        }
        if let Some(answer) = world.resource_metadata(asked) {
            return Routed::Answered(answer);
        }
    }
    if side != Side::Resource {
        if let Some(answer) = world.server_metadata(asked) {
            return Routed::Answered(answer);
        }
        if let Some(endpoint) = Places::endpoint_at(&world.options, &asked.path) {
            if endpoint == Endpoint::Token {
                world.count_token_request(asked);
            }
            return Routed::Login(endpoint);
        }
    }
    Routed::Answered(Answer::bytes(404, "text/plain", "there is nothing here"))
}

/// Does what an endpoint does, with a pause on both sides of it where that is wanted.
async fn log_in(shared: Arc<Shared>, endpoint: Endpoint, asked: Asked) -> Answer {
    let pause = match endpoint {
        Endpoint::Token => Duration::from_millis(shared.world().options.tokens.token_delay),
        _ => Duration::ZERO,
    };
    tokio::time::sleep(pause).await;
    let answer = shared.world().serve(endpoint, &asked, Instant::now());
    let delay = answer.delay + pause;
    answer.after(delay)
}
