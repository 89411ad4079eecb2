//! Servers that are lent to sessions, and who lends them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_config::{LentLaunch as Launch, RemoteTransport};
use openclaw_content::shown_line;
use openclaw_engine::{
    EngineFailure, LendServers, Lender, LentLaunch, LentReport, LentServer, LentValue, LoanReport,
};
use openclaw_mcp::Servers;
use openclaw_secrets::Secret;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::runtime::Runtime;

/// How many servers can be lent to a session.
const MOST: usize = 100;
/// How long it is waited for a lender who lends before it has said that it is there.
const ARRIVING: Duration = Duration::from_secs(2);
/// How much of a name and a problem is told.
const SHOWN: usize = 300;

/// Who lends.
#[derive(Default)]
pub(crate) struct Lenders {
    /// Those who are there, and how often they said so.
    present: Mutex<BTreeMap<String, usize>>,
    arrived: Notify,
}

impl Lenders {
    fn present(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has(&self, lender: &Lender) -> bool {
        self.present().contains_key(&lender.id)
    }

    /// Notes that a lender is there.
    fn arrives(&self, lender: &Lender) {
        *self.present().entry(lender.id.clone()).or_default() += 1;
        self.arrived.notify_waiters();
    }

    /// Notes that a lender goes; whether it is gone.
    fn leaves(&self, lender: &str) -> bool {
        let mut present = self.present();
        match present.get_mut(lender) {
            Some(count) if *count > 1 => {
                *count -= 1;
                false
            }
            _ => {
                present.remove(lender);
                true
            }
        }
    }

    /// Waits until a lender is there.
    async fn arrival(&self, lender: &Lender) {
        loop {
            let arrived = self.arrived.notified();
            tokio::pin!(arrived);
            // Registered before it is looked, so that nobody is missed.
            arrived.as_mut().enable();
            if self.has(lender) {
                return;
            }
            arrived.await;
        }
    }
}

/// A lender who is there. When it is dropped, all that it lent is taken back.
struct Presence {
    lender: String,
    lenders: Arc<Lenders>,
    servers: Arc<Servers>,
    runtime: Handle,
}

impl Drop for Presence {
    fn drop(&mut self) {
        if self.lenders.leaves(&self.lender) {
            let unneeded = self.servers.take_back(&self.lender);
            // What is ending here ends with the servers at the latest, which nobody drops before.
            self.runtime.spawn(unneeded.end());
        }
    }
}

impl Runtime {
    pub(super) async fn answer_lending(&self, lender: Lender) -> Result<(), EngineFailure> {
        self.lenders.arrives(&lender);
        let _presence = Presence {
            lender: lender.id,
            lenders: Arc::clone(&self.lenders),
            servers: Arc::clone(&self.servers),
            runtime: Handle::current(),
        };
        std::future::pending().await
    }

    pub(super) async fn answer_lend(
        &self,
        request: LendServers,
    ) -> Result<LoanReport, EngineFailure> {
        let (plan, key) = self
            .agents
            .chosen(request.agent.as_deref(), &request.session)?;
        if request.servers.len() > MOST {
            let message = format!("at most {MOST} servers can be lent to a session");
            return Err(EngineFailure::asker("too-many-servers", message));
        }
        let lender = &request.lender;
        let is_over = request.servers.is_empty();
        // Nobody has to be there to have nothing to lend.
        if !is_over
            && timeout(ARRIVING, self.lenders.arrival(lender))
                .await
                .is_err()
        {
            let message = "whoever lends these servers is not there";
            return Err(EngineFailure::asker("unknown-lender", message));
        }
        let directory = request.directory.map(PathBuf::from);
        let asked: Vec<String> = request.servers.iter().map(|it| it.name.clone()).collect();
        let servers = request.servers.into_iter();
        let servers: Vec<_> = servers.map(|it| lent(it, directory.as_ref())).collect();
        let left_out = servers.iter().map(|it| {
            let names = it.launch.left_out();
            names
                .map(|name| shown_line(name, SHOWN))
                .collect::<Vec<_>>()
        });
        let left_out: Vec<_> = left_out.collect();
        let agent = plan.agent.id.as_str();
        let lent = self.servers.lend(&lender.id, agent, key.as_str(), servers);
        let (taken, unneeded) = lent.map_err(|error| {
            EngineFailure::asker("unknown-agent", error.to_string())
                .hint(format!("the agents are: {}", error.known.join(", ")))
        })?;
        // Whoever goes from now on takes it along; whoever has gone before did not.
        if !is_over && !self.lenders.has(lender) {
            self.servers.take_back(&lender.id).end().await;
            let message = "whoever lends these servers has gone";
            return Err(EngineFailure::asker("unknown-lender", message));
        }
        unneeded.end().await;
        let asked = asked.into_iter().zip(left_out);
        let servers = asked.zip(taken).map(|((asked, left_out), taken)| {
            let (name, problem) = match taken {
                Ok(name) => (Some(name), None),
                Err(error) => (None, Some(error.to_string())),
            };
            LentReport {
                asked: shown_line(&asked, SHOWN),
                name,
                problem: problem.map(|it| shown_line(&self.redactor.redact(&it), SHOWN)),
                left_out,
            }
        });
        Ok(LoanReport {
            session_key: key.as_str().to_owned(),
            servers: servers.collect(),
        })
    }
}

fn lent(server: LentServer, directory: Option<&PathBuf>) -> openclaw_mcp::LentServer {
    let values = |values: Vec<LentValue>| -> Vec<(String, Secret)> {
        let values = values.into_iter();
        values.map(|it| (it.name, Secret::new(it.value))).collect()
    };
    let remote = |transport, url, headers| Launch::Remote {
        transport,
        url,
        headers: values(headers),
    };
    openclaw_mcp::LentServer {
        name: server.name,
        launch: match server.launch {
            LentLaunch::Stdio { command, args, env } => Launch::Stdio {
                command,
                args,
                environment: values(env),
                directory: directory.cloned(),
            },
            LentLaunch::Http { url, headers } => remote(RemoteTransport::Http, url, headers),
            LentLaunch::Sse { url, headers } => remote(RemoteTransport::Sse, url, headers),
        },
    }
}
