//! Servers that are lent to sessions.

use std::collections::BTreeSet;
use std::sync::Arc;

use openclaw_config::{
    ConfiguredServer, Fingerprint, Fingerprints, LentError, LentLaunch, ServerName, lent_server,
};
use openclaw_content::shown_line;
use tokio::task::JoinSet;

use super::plan::{AgentPlan, Loan, Loans};
use super::{Occasion, Servers, UnknownAgent};
use crate::supervise::ManagedServer;

/// How many characters of a name are kept, so that there is room for telling it apart.
const NAME: usize = 48;

/// A server that is to be lent.
#[derive(Clone)]
pub struct LentServer {
    /// What its lender calls it.
    pub name: String,
    /// How it is started or reached.
    pub launch: LentLaunch,
}

/// What became of a server that was to be lent: what it is called in its session, or why it can't be used.
pub type Taken = Result<String, LentError>;

/// Servers that nobody needs any longer. They end by themselves; whoever wants to know when waits for it.
#[must_use = "it tells when they have ended"]
pub struct Unneeded(Vec<Arc<ManagedServer>>);

impl Unneeded {
    /// Ends them, and waits for it.
    pub async fn end(self) {
        let mut stopping = JoinSet::new();
        for server in self.0 {
            stopping.spawn(async move { server.stop("its session has ended").await });
        }
        while stopping.join_next().await.is_some() {}
    }
}

impl Servers {
    /// Lends servers to a session of an agent, instead of those that were lent to it before; no servers take
    /// back what the same lender lent. Says what became of each, and which of those before nobody needs any
    /// longer.
    pub fn lend(
        &self,
        lender: &str,
        agent: &str,
        session: &str,
        servers: Vec<LentServer>,
    ) -> Result<(Vec<Taken>, Unneeded), UnknownAgent> {
        let mut loans = self.loans();
        let agent = self.agent(Some(agent))?.agent.id.clone();
        for server in &servers {
            self.hide(server);
        }
        if servers.is_empty() {
            // Another editor may have opened the session meanwhile, and has lent its own.
            if loans.get(session).is_some_and(|loan| loan.lender == lender) {
                loans.remove(session);
            }
        } else {
            let loan = Loan {
                lender: lender.to_owned(),
                agent,
                servers,
            };
            loans.insert(session.into(), Arc::new(loan));
        }
        let unneeded = self.go_over_to(&loans, Some(session));
        Ok((self.plan().taken(session), unneeded))
    }

    /// Takes back everything that somebody lends.
    pub fn take_back(&self, lender: &str) -> Unneeded {
        let mut loans = self.loans();
        let before = loans.len();
        loans.retain(|_, loan| loan.lender != lender);
        if loans.len() == before {
            return Unneeded(Vec::new());
        }
        self.go_over_to(&loans, None)
    }

    /// Goes over to other loans, of which one is new.
    fn go_over_to(&self, loans: &Loans, new: Option<&str>) -> Unneeded {
        let plan = self.plan().lending(&self.key, loans);
        let needed: BTreeSet<Fingerprint> = plan.fingerprints().collect();
        let lent = new.and_then(|session| plan.in_session(session));
        let lent = lent.into_iter().flat_map(|agent| agent.servers());
        let lent = lent.filter(|server| server.is_lent());
        let lent = lent.filter_map(|server| server.fingerprint()).collect();
        let running = self.fleet.all();
        self.go_over(plan);
        self.reconcile(Occasion::Loan(&lent));
        let unneeded = running.into_iter();
        let unneeded = unneeded.filter(|(key, _)| !needed.contains(&key.0));
        Unneeded(unneeded.map(|(_, server)| server).collect())
    }

    /// Hides the values of a server from every output. What can't be lent is told by its name alone.
    fn hide(&self, server: &LentServer) {
        let name = ServerName::cleaned(&server.name);
        let Ok(lent) = lent_server(name, server.launch.clone()) else {
            return;
        };
        let credentials = lent.definition.sound().map(|it| it.credentials());
        for credential in credentials.into_iter().flatten() {
            // One that is too short to be found in texts is no worse hidden than one of the file.
            let _ = self.redactor.learn(&credential);
        }
    }
}

/// Gives servers names that nothing else of the agent has. One that the agent has already is not taken a
/// second time.
pub(super) fn joining(
    agent: &AgentPlan,
    servers: &[LentServer],
    fingerprints: &Fingerprints<'_>,
) -> (Vec<Taken>, Vec<Arc<ConfiguredServer>>) {
    let mut joining: Vec<Arc<ConfiguredServer>> = Vec::new();
    let taken = servers.iter().map(|server| {
        let name = ServerName::cleaned(&shown_line(&server.name, NAME));
        let configured = lent_server(name.clone(), server.launch.clone())?;
        let own = agent.server(name.as_str());
        let sound = configured.definition.sound();
        let fingerprint = sound.map(|sound| fingerprints.of(sound));
        if fingerprint.is_some() && own.and_then(|own| own.fingerprint()) == fingerprint {
            return Ok(name.as_str().to_owned());
        }
        let is_free = |name: &ServerName| {
            agent.server(name.as_str()).is_none() && joining.iter().all(|it| it.name != *name)
        };
        let own_name = apart(&name, is_free);
        let configured = if own_name == name {
            configured
        } else {
            lent_server(own_name.clone(), server.launch.clone())?
        };
        joining.push(Arc::new(configured));
        Ok(own_name.as_str().to_owned())
    });
    let taken = taken.collect();
    (taken, joining)
}

/// A name that is free: the same, or what tells it from the one that has it.
fn apart(name: &ServerName, is_free: impl Fn(&ServerName) -> bool) -> ServerName {
    if is_free(name) {
        return name.clone();
    }
    let more = (1_u64..).filter_map(|number| {
        let name = name.as_str();
        let text = match number {
            1 => format!("{name}-session"),
            number => format!("{name}-session-{number}"),
        };
        ServerName::new(&text).ok()
    });
    let mut free = more.filter(is_free);
    free.next().unwrap_or_else(|| name.clone())
}
