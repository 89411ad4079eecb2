//! Waits on this machine for the browser that comes back from a login.

mod answering;
mod binding;
mod connections;
mod page;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use openclaw_secrets::Secret;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use url::Url;

use self::answering::Door;
use self::binding::Bound;
use self::connections::Connections;
use self::page::Page;
use crate::error::{OAuthError, quoted};
use crate::resource::Redirect;

/// How much of everything there may be.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// How many connections each socket serves at once.
    connections: usize,
    /// How long a request may take to arrive, and its answer to leave.
    request: Duration,
    /// How long the browser waits to be told how the login went.
    reply: Duration,
    /// How long a connection may say nothing before it gives way to another.
    grace: Duration,
    /// How long the last answers may take to leave.
    farewell: Duration,
}

const LIMITS: Limits = Limits {
    connections: 128,
    request: Duration::from_secs(10),
    reply: Duration::from_secs(30),
    // On this machine a request comes along with its connection. With so many of them, a thousand
    // that say nothing hold up the one that matters for less than a second.
    grace: Duration::from_millis(50),
    farewell: Duration::from_secs(2),
};

/// Waits for the browser that comes back from a login (RFC 8252 §7.3).
///
/// Only this machine can reach it. Dropping it cuts off browsers that still wait for their answer;
/// [`CallbackListener::finish`] does not.
pub(crate) struct CallbackListener {
    redirect_uri: String,
    arrivals: mpsc::Receiver<Arrived>,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
    farewell: Duration,
}

impl CallbackListener {
    /// Begins to listen where the browser will be sent to.
    ///
    /// A port that the configuration names is taken, or nothing. Otherwise the preferred one is taken
    /// if it is free: it may be the one that an authorization server knows already. It is called in
    /// a runtime, which serves the browsers.
    pub(crate) fn bind(
        redirect: &Redirect,
        preferred_port: Option<u16>,
    ) -> Result<Self, OAuthError> {
        Self::bind_within(redirect, preferred_port, LIMITS)
    }

    fn bind_within(
        redirect: &Redirect,
        preferred_port: Option<u16>,
        limits: Limits,
    ) -> Result<Self, OAuthError> {
        let Redirect::Here { host, port, path } = redirect else {
            return Err(OAuthError::lasting(
                "the browser is sent to an address that is not on this machine",
            ));
        };
        let Bound { sockets, port } = binding::bind(host, *port, preferred_port)?;
        // As it stands in the registration: a host and a path must not change their spelling.
        let redirect_uri = format!("http://{host}:{port}{path}");
        let (arrived, arrivals) = mpsc::channel(limits.connections * sockets.len());
        let door = Arc::new(Door {
            path: requested_path(&redirect_uri)?,
            port,
            arrived,
            patience: limits.reply,
        });
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for socket in sockets {
            let connections = Connections::new(Arc::clone(&door), limits);
            tasks.spawn(connections.serve(socket, stopped.clone()));
        }
        Ok(Self {
            redirect_uri,
            arrivals,
            stop,
            tasks,
            farewell: limits.farewell,
        })
    }

    /// The address that the browser is sent to.
    pub(crate) fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    /// Waits for the next browser that brings something.
    ///
    /// What it brings is not checked: everybody on this machine can come, and so can every page that
    /// a browser shows. Nothing is lost if this is dropped before it is done.
    pub(crate) async fn next(&mut self) -> Arrived {
        match self.arrivals.recv().await {
            Some(arrived) => arrived,
            // Only if listening has ended, and that is a choice of our owner.
            None => std::future::pending().await,
        }
    }

    /// Stops to listen, and lets the answers leave that were given. It does not take long.
    pub(crate) async fn finish(self) {
        let Self {
            arrivals,
            stop,
            mut tasks,
            farewell,
            ..
        } = self;
        // Whoever is still in the queue is told that nobody decided.
        drop(arrivals);
        stop.send_replace(true);
        let all = async { while tasks.join_next().await.is_some() {} };
        // Those who do not take their answer in time are cut off.
        let _ = tokio::time::timeout(farewell, all).await;
    }
}

impl fmt::Debug for CallbackListener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CallbackListener")
            .field("redirect_uri", &self.redirect_uri)
            .finish_non_exhaustive()
    }
}

/// The path that a browser asks for when it is sent to an address.
fn requested_path(redirect_uri: &str) -> Result<String, OAuthError> {
    let url = Url::parse(redirect_uri).map_err(|error| {
        let address = quoted(redirect_uri);
        OAuthError::lasting(format!("`{address}` is no address for a browser: {error}"))
    })?;
    if url.fragment().is_some() {
        // RFC 6749 §3.1.2: what comes back would stand in front of it.
        let address = quoted(redirect_uri);
        return Err(
            OAuthError::lasting(format!("`{address}` must not have a `#` in it"))
                .hint("set `auth.callbackPath` to a path without one"),
        );
    }
    Ok(url.path().to_owned())
}

/// A browser that came back.
#[derive(Debug)]
pub(crate) struct Arrived {
    /// What it brings: what stands behind `?` in the address that it asked for.
    pub query: Secret,
    /// What it is told.
    pub reply: Reply,
}

/// A browser that waits to be told how the login went. One that is told nothing sees that the
/// terminal knows more.
pub(crate) struct Reply(oneshot::Sender<Page>);

impl Reply {
    /// Says that the login to a server worked.
    pub(crate) fn success(self, server: &str) {
        self.send(Page::success(server));
    }

    /// Says why it did not.
    pub(crate) fn failure(self, words: &str) {
        self.send(Page::failure(words));
    }

    fn send(self, page: Page) {
        // A browser that is closed by now has nothing to be told.
        let _ = self.0.send(page);
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Reply").finish_non_exhaustive()
    }
}
