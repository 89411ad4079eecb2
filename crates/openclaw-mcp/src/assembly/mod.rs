//! The tools of an agent: one function for everybody who needs them.

mod cache;

use std::collections::BTreeMap;
use std::sync::Arc;

use openclaw_config::PinPolicy;

pub(crate) use self::cache::AssemblyCache;
use crate::names::{Lookup, NamedTool, QualifiedToolName, ToolKey, ToolNames, ToolSource};
use crate::offering::{Offering, PreparedTool};
use crate::pins::Verdict;
use crate::policy::Decision;
use crate::servers::{AgentPlan, PlannedServer};

/// A tool of an agent.
pub struct AgentTool {
    /// What models call it.
    pub name: QualifiedToolName,
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
    /// Whether it waits for somebody to accept its definition.
    pub fn is_blocked(&self) -> bool {
        let blocks = |server: &Arc<openclaw_config::Server>| server.pin == PinPolicy::Block;
        let is_known = matches!(self.prepared.verdict, Verdict::First | Verdict::Same);
        !is_known && self.server.server().is_some_and(blocks)
    }

    /// Whether models are told about it.
    pub fn is_offered(&self) -> bool {
        self.decision.is_allowed() && !self.is_blocked()
    }
}

/// The tools of an agent at one moment, in the order of their names.
pub struct AgentTools {
    names: ToolNames,
    tools: BTreeMap<QualifiedToolName, AgentTool>,
    problems: Vec<String>,
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
        let sources: Vec<ToolSource<'_>> = offered
            .iter()
            .filter_map(|(server, offering)| {
                let definition = server.server()?;
                let tools = offering.tools.iter().map(|it| it.definition.name.as_str());
                Some(ToolSource {
                    server: server.name(),
                    prefix: definition.tool_prefix.as_deref(),
                    naming: definition.naming,
                    tools: tools.filter(|tool| !offering.is_gone(tool)).collect(),
                })
            })
            .collect();
        let names = ToolNames::new(&sources);
        let mut prepared = BTreeMap::new();
        for (server, offering) in offered {
            for tool in &offering.tools {
                let key = (server.name(), tool.definition.name.as_str());
                prepared.insert(key, (server, offering, tool));
            }
        }
        let tools = names.iter().filter_map(|named| {
            let ToolKey { server, tool } = &named.key;
            let (server, offering, tool) = prepared.get(&(server.as_str(), tool.as_str()))?;
            let tool = AgentTool {
                name: named.name.clone(),
                server: Arc::clone(server),
                prepared: Arc::clone(tool),
                decision: agent.policy.decide(named),
                named: named.clone(),
                offering: Arc::clone(offering),
            };
            Some((named.name.clone(), tool))
        });
        let tools = tools.collect();
        let problems = offered.iter().flat_map(|(_, it)| it.problems.clone());
        Self {
            names,
            tools,
            problems: problems.collect(),
        }
    }

    /// The tools that models are told about.
    pub fn offered(&self) -> impl Iterator<Item = &AgentTool> {
        self.tools.values().filter(|tool| tool.is_offered())
    }

    /// All tools, those that may not be used included.
    pub fn all(&self) -> impl Iterator<Item = &AgentTool> {
        self.tools.values()
    }

    /// Tools that can't be offered, and why: one sentence each.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The tool of this name, exactly as a model was told it.
    pub fn get(&self, name: &str) -> Option<&AgentTool> {
        self.tools.get(&self.names.get(name)?.name)
    }

    /// The tool that a person means by a spelling.
    pub fn find(&self, spelling: &str) -> Meant<'_> {
        let tool = |named: &NamedTool| self.tools.get(&named.name);
        match self.names.find(spelling) {
            Lookup::Found(named) => tool(named).map_or(Meant::Nothing, Meant::Tool),
            Lookup::Ambiguous(named) => {
                Meant::Several(named.into_iter().filter_map(tool).collect())
            }
            Lookup::Unknown => Meant::Nothing,
        }
    }
}
