//! The tools of an agent, put together anew only when something changed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::AgentTools;
use crate::offering::Offering;
use crate::servers::{AgentPlan, PlannedServer, Servers};

/// For how many sessions with servers of their own it is remembered.
const SESSIONS: usize = 64;

/// What was put together last.
#[derive(Default)]
pub(crate) struct AssemblyCache(Mutex<BTreeMap<Option<String>, Assembled>>);

struct Assembled {
    /// The number of the change after which it held; none where it has to be looked every time.
    number: Option<u64>,
    /// What it was made of, and how much of that was gone.
    parts: Vec<(Arc<Offering>, usize)>,
    tools: Arc<AgentTools>,
}

impl AssemblyCache {
    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.kept().clear();
    }

    /// The tools of an agent as of now.
    pub(crate) fn get(
        &self,
        servers: &Servers,
        agent: &AgentPlan,
        session: Option<&str>,
    ) -> Arc<AgentTools> {
        let session = session.filter(|_| agent.has_servers_of_sessions);
        let key = session.map(str::to_owned);
        let number = servers.changes().number();
        if let Some(assembled) = self.kept().get(&key)
            && assembled.number == Some(number)
        {
            return Arc::clone(&assembled.tools);
        }
        let offered = offered(servers, agent, session);
        // What could not be compared is compared the next time.
        let is_compared = offered.iter().all(|(_, offering)| offering.is_compared);
        let number = is_compared.then_some(number);
        let mut kept = self.kept();
        if let Some(assembled) = kept.get_mut(&key)
            && assembled.is_of(&offered)
        {
            assembled.number = number;
            return Arc::clone(&assembled.tools);
        }
        let parts = offered.iter();
        let parts = parts.map(|(_, offering)| (Arc::clone(offering), offering.gone()));
        let parts = parts.collect();
        let tools = Arc::new(AgentTools::assemble(agent, &offered));
        if kept.len() >= SESSIONS {
            kept.clear();
        }
        let assembled = Assembled {
            number,
            parts,
            tools: Arc::clone(&tools),
        };
        kept.insert(key, assembled);
        tools
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<Option<String>, Assembled>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the servers of an agent offer now.
fn offered(
    servers: &Servers,
    agent: &AgentPlan,
    session: Option<&str>,
) -> Vec<(Arc<PlannedServer>, Arc<Offering>)> {
    let all = agent.servers.values();
    let allowed = all.filter(|server| !agent.denied.contains(server.name()));
    allowed
        .filter_map(|server| {
            let catalog = servers.catalog(server, session)?;
            let usable = server.usable.as_ref()?;
            let offering = usable.offering(&catalog, &servers.pins);
            Some((Arc::clone(server), offering))
        })
        .collect()
}

impl Assembled {
    fn is_of(&self, offered: &[(Arc<PlannedServer>, Arc<Offering>)]) -> bool {
        self.parts.len() == offered.len()
            && self
                .parts
                .iter()
                .zip(offered)
                .all(|((part, gone), (_, now))| Arc::ptr_eq(part, now) && *gone == now.gone())
    }
}
