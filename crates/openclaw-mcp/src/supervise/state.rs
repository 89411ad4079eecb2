//! How a server is.

use std::sync::Arc;
use std::time::SystemTime;

use openclaw_mcp_client::Connection;
use openclaw_process::{StderrLine, StderrTail};

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
    /// The last lines of its standard error from before it was last let go.
    pub(super) earlier_stderr: Arc<[StderrLine]>,
    /// When it last gave a sign of life that it was asked for.
    pub alive_at: Option<SystemTime>,
    /// How often it was started again since it was last asked for.
    pub restarts: u32,
    /// How often in a row it failed.
    pub failures: u32,
    /// How often in a row it could not be started for want of something that is not its own: descriptors, or a
    /// store of secrets that answers.
    pub hindrances: u32,
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
            earlier_stderr: Arc::default(),
            alive_at: None,
            restarts: 0,
            failures: 0,
            hindrances: 0,
            reason: None,
        }
    }
}

impl ServerState {
    /// How often in a row it did not come back, whoever is to blame.
    pub(super) fn setbacks(&self) -> u32 {
        self.failures.saturating_add(self.hindrances)
    }

    /// The last lines of its standard error, those of earlier starts included: why it died is among them.
    pub fn stderr(&self) -> Vec<StderrLine> {
        let now = self.connection.as_ref();
        let now = now.map(|connection| connection.diagnostics().stderr);
        self.stderr_with(now.unwrap_or_default())
    }

    /// Lets the connection go, and keeps what its program said.
    pub(super) fn let_go(&mut self) {
        if self.connection.is_some() {
            self.earlier_stderr = self.stderr().into();
            self.connection = None;
        }
    }

    /// Keeps what a program said that could not be connected to.
    pub(super) fn heard(&mut self, last: &[String]) {
        let last = last.iter().cloned().map(StderrLine::new);
        self.earlier_stderr = self.stderr_with(last.collect()).into();
    }

    fn stderr_with(&self, new: Vec<StderrLine>) -> Vec<StderrLine> {
        let mut lines = self.earlier_stderr.to_vec();
        lines.extend(new);
        lines.drain(..lines.len().saturating_sub(StderrTail::KEPT));
        lines
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
