//! The tools of an agent: one function for everybody who needs them.

mod cache;

use std::sync::{Arc, OnceLock};

use openclaw_config::PinPolicy;
use openclaw_content::Origin;

pub(crate) use self::cache::AssemblyCache;
use crate::names::{
    self, Lookup, NamedTool, OwnNames, QualifiedToolName, RESERVED, ToolNames, ToolSource,
};
use crate::offering::{Offering, PreparedTool};
use crate::own::OwnTool;
use crate::pins::Verdict;
use crate::policy::Decision;
use crate::resources::resource_tools;
use crate::search::{Hits, ToolIndex};
use crate::servers::{AgentPlan, PlannedServer};
use crate::supervise::Catalog;

/// A tool of an agent.
pub struct AgentTool {
    /// Its server.
    pub server: Arc<PlannedServer>,
    /// What it is.
    pub prepared: Arc<PreparedTool>,
    /// Whether the agent may use it.
    pub decision: Decision,
    pub(crate) named: NamedTool,
    pub(crate) offering: Arc<Offering>,
}

impl AgentTool {
    /// What models call it.
    pub fn name(&self) -> &QualifiedToolName {
        &self.named.name
    }

    /// Where what it says comes from.
    pub(crate) fn origin(&self) -> Origin {
        Origin::new(self.server.name(), &self.prepared.definition.name)
    }

    /// Whether it waits for somebody to accept its definition.
    pub fn is_blocked(&self) -> bool {
        let blocks = |server: &Arc<openclaw_config::Server>| server.pin == PinPolicy::Block;
        let is_known = matches!(self.prepared.verdict, Verdict::First | Verdict::Same);
        !is_known && self.server.server().is_some_and(blocks)
    }

    /// Whether models see its definition without having searched for it.
    pub fn is_always_loaded(&self) -> bool {
        self.server
            .server()
            .is_some_and(|server| server.always_load)
    }

    /// Whether models are told about it.
    pub fn is_offered(&self) -> bool {
        self.decision.is_allowed() && !self.is_blocked()
    }
}

/// What an agent has at one moment: its tools in the order of their names, and what its servers
/// offer beside them.
pub struct AgentTools {
    tools: Vec<AgentTool>,
    problems: Vec<String>,
    own: Vec<OwnTool>,
    /// The names of our own tools that somebody denies.
    denied_own: Vec<&'static str>,
    /// What it was put together of.
    offered: Vec<(Arc<PlannedServer>, Arc<Offering>)>,
    /// Made when somebody writes a name as no model does.
    own_names: OnceLock<OwnNames>,
    /// Made when somebody searches: most never do.
    index: OnceLock<ToolIndex>,
}

/// What a spelling means.
pub enum Meant<'a> {
    /// This tool.
    Tool(&'a AgentTool),
    /// One of these.
    Several(Vec<&'a AgentTool>),
    /// None.
    Nothing,
}

impl AgentTools {
    /// Puts together what the servers of an agent offer.
    pub(crate) fn assemble(
        agent: &AgentPlan,
        offered: &[(Arc<PlannedServer>, Arc<Offering>)],
    ) -> Self {
        // In the same order as what is offered, so that a place in one is a place in the other.
        let there: Vec<Vec<&Arc<PreparedTool>>> = offered
            .iter()
            .map(|(_, offering)| offering.there())
            .collect();
        let sources: Vec<ToolSource<'_>> = offered
            .iter()
            .zip(&there)
            .map(|((server, _), tools)| ToolSource {
                server: server.name(),
                prefix: server.server().and_then(|it| it.tool_prefix.as_deref()),
                naming: server.naming(),
                tools: tools
                    .iter()
                    .map(|tool| tool.definition.name.as_str())
                    .collect(),
            })
            .collect();
        let named = ToolNames::new(&sources).into_tools().into_iter();
        let tools = named.filter_map(|named| {
            let (source, number) = named.place;
            let (server, offering) = offered.get(source)?;
            let prepared = there.get(source)?.get(number)?;
            Some(AgentTool {
                server: Arc::clone(server),
                prepared: Arc::clone(prepared),
                decision: agent.policy.decide(&named),
                named,
                offering: Arc::clone(offering),
            })
        });
        let problems = offered.iter().flat_map(|(_, it)| it.problems.clone());
        Self {
            tools: tools.collect(),
            problems: problems.collect(),
            own: resource_tools(
                &agent.policy,
                offered.iter().map(|(_, offering)| &*offering.catalog),
            ),
            denied_own: RESERVED
                .into_iter()
                .filter(|name| !agent.allows_own(name))
                .collect(),
            offered: offered.to_vec(),
            own_names: OnceLock::new(),
            index: OnceLock::new(),
        }
    }

    /// What each server offers beside its tools, in the order of their names.
    pub fn catalogs(&self) -> impl Iterator<Item = (&str, &Catalog)> {
        let offered = self.offered.iter();
        offered.map(|(server, offering)| (server.name(), &*offering.catalog))
    }

    /// Tools of our own that models are told about because of what the servers offer.
    pub fn own_tools(&self) -> &[OwnTool] {
        &self.own
    }

    /// Whether the agent may use a tool of our own.
    pub fn allows_own(&self, name: &str) -> bool {
        !self.denied_own.contains(&name)
    }

    /// The tools that models are told about.
    pub fn offered(&self) -> impl Iterator<Item = &AgentTool> {
        self.tools.iter().filter(|tool| tool.is_offered())
    }

    /// All tools, those that may not be used included.
    pub fn all(&self) -> impl Iterator<Item = &AgentTool> {
        self.tools.iter()
    }

    /// Tools that can't be offered, and why: one sentence each.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The tool of this name, exactly as a model was told it.
    pub fn get(&self, name: &str) -> Option<&AgentTool> {
        names::get(&self.tools, |tool| &tool.named, name)
    }

    /// The tools among those that models are told about that fit a text, at most so many, those
    /// that are called so first.
    pub(crate) fn search(&self, text: &str, limit: usize) -> Hits<'_> {
        self.index().search(&self.tools, text, limit)
    }

    /// The tools among those that models are told about that a spelling of a name means.
    pub(crate) fn called(&self, spelling: &str) -> Vec<&AgentTool> {
        self.index().called(&self.tools, spelling)
    }

    fn index(&self) -> &ToolIndex {
        self.index.get_or_init(|| ToolIndex::new(&self.tools))
    }

    /// The tool that a person means by a spelling.
    pub fn find(&self, spelling: &str) -> Meant<'_> {
        let own = || OwnNames::new(&self.tools, |tool| &tool.named);
        let own = || self.own_names.get_or_init(own);
        match names::find(&self.tools, |tool| &tool.named, own, spelling) {
            Lookup::Found(tool) => Meant::Tool(tool),
            Lookup::Ambiguous(tools) => Meant::Several(tools),
            Lookup::Unknown => Meant::Nothing,
        }
    }
}
