//! How a server is.

use std::sync::Arc;
use std::time::SystemTime;

use openclaw_mcp_client::Connection;

use super::catalog::Catalog;

/// How a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is being started or reached for the first time, or after somebody asked for it.
    Connecting,
    /// It can be used.
    Ready,
    /// It was lost and is being started or reached again.
    Restarting,
    /// It wants to know who we are.
    NeedsAuth,
    /// It is given up on until somebody asks for it.
    Failed,
    /// It is not wanted now: it was disconnected, is lazy, or there are too many.
    Stopped,
}

impl Status {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Ready => "ready",
            Self::Restarting => "restarting",
            Self::NeedsAuth => "needs-auth",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// All that is known about a server, at one moment.
#[derive(Clone)]
pub struct ServerState {
    /// How it is.
    pub status: Status,
    /// Whether it has ever been ready.
    pub was_ready: bool,
    /// The connection, while it is ready.
    pub connection: Option<Arc<Connection>>,
    /// What it offers, or offered last.
    pub catalog: Arc<Catalog>,
    /// The last lines of its standard error from when it was last let go.
    pub stderr: Arc<[String]>,
    /// How many lines there had been in all until then, over all its starts.
    pub stderr_before: u64,
    /// When it last gave a sign of life that it was asked for.
    pub alive_at: Option<SystemTime>,
    /// How often it was started again since it was last asked for.
    pub restarts: u32,
    /// How often in a row it failed.
    pub failures: u32,
    /// What went wrong last, or why it is stopped.
    pub reason: Option<Arc<str>>,
}

impl Default for ServerState {
    fn default() -> Self {
        Self {
            status: Status::Stopped,
            was_ready: false,
            connection: None,
            catalog: Arc::default(),
            stderr: Arc::default(),
            stderr_before: 0,
            alive_at: None,
            restarts: 0,
            failures: 0,
            reason: None,
        }
    }
}

impl ServerState {
    /// The last lines of its standard error, and how many there were in all, over all its starts: whoever
    /// follows them finds the first line of a new process by that.
    pub fn stderr_so_far(&self) -> (Vec<String>, u64) {
        match &self.connection {
            Some(connection) => {
                let diagnostics = connection.diagnostics();
                let total = self.stderr_before + diagnostics.stderr_total;
                (diagnostics.stderr, total)
            }
            None => (self.stderr.to_vec(), self.stderr_before),
        }
    }

    /// Lets the connection go, and keeps what its program said.
    pub(super) fn let_go(&mut self) {
        if self.connection.is_some() {
            let (lines, total) = self.stderr_so_far();
            self.stderr = lines.into();
            self.stderr_before = total;
            self.connection = None;
        }
    }
}

impl std::fmt::Debug for ServerState {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ServerState")
            .field("status", &self.status)
            .field("restarts", &self.restarts)
            .field("failures", &self.failures)
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}
