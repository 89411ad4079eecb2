//! The tools of an agent, put together anew only when something changed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use openclaw_config::ServerScope;

use super::AgentTools;
use crate::offering::Offering;
use crate::servers::{AgentPlan, PlannedServer, Servers};

/// For how many sessions with servers of their own it is remembered.
const SESSIONS: usize = 64;

/// What was put together last.
#[derive(Default)]
pub(crate) struct AssemblyCache(Mutex<BTreeMap<Option<String>, Assembled>>);

struct Assembled {
    /// What it was made of, and how much of that was gone.
    parts: Vec<(Arc<Offering>, usize)>,
    tools: Arc<AgentTools>,
}

impl AssemblyCache {
    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// The tools of an agent as of now.
    pub(crate) fn get(
        &self,
        servers: &Servers,
        agent: &AgentPlan,
        session: Option<&str>,
    ) -> Arc<AgentTools> {
        let has_own = |server: &Arc<PlannedServer>| {
            let server = server.server();
            server.is_some_and(|server| server.scope == ServerScope::Session)
        };
        let session = session.filter(|_| agent.servers.values().any(has_own));
        let offered: Vec<_> = agent
            .servers
            .values()
            .filter(|server| !agent.denied.contains(server.name()))
            .filter_map(|server| {
                let catalog = servers.catalog(server, session)?;
                let usable = server.usable.as_ref()?;
                let offering = usable.offering(&catalog, &servers.pins);
                Some((Arc::clone(server), offering))
            })
            .collect();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = session.map(str::to_owned);
        if let Some(assembled) = kept.get(&key)
            && assembled.is_of(&offered)
        {
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
            parts,
            tools: Arc::clone(&tools),
        };
        kept.insert(key, assembled);
        tools
    }
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
