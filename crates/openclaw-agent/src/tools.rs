//! The tools of an agent as a model sees them: one function for every way in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use openclaw_config::ToolSearch;
use openclaw_content::note;
use openclaw_mcp::{
    AgentTool, AgentTools, CALL_TOOL, OwnTool, SEARCH_TOOLS, SchemaDialect, call_tool_tool,
    describe_tool_tool, read_result_tool, schema_for_model, search_tools_tool,
};
use openclaw_models::{ModelFacts, ToolDialect, ToolSet, ToolSpec};
use serde_json::{Map, Value};

use crate::compaction::{definition_tokens, tools_tokens};
use crate::skills::read_skill_tool;

/// For how many agents and sessions it is remembered.
const REMEMBERED: usize = 64;
/// How many choices among the tools of one agent are remembered.
const CHOICES: usize = 16;
/// Which part of what a model holds may go to definitions.
const SHARE: u64 = 10;

/// The tools of agents, made ready for models once.
#[derive(Default)]
pub(crate) struct ReadyTools(Mutex<Vec<Arc<Weighed>>>);

/// The tools of an agent, made ready for models.
pub(crate) struct Ready {
    pub(crate) set: ToolSet,
    /// How many tokens their definitions cost, roughly.
    pub(crate) tokens: u64,
    /// Whether there are others, which have to be searched for.
    pub(crate) searches: bool,
}

/// What decides which tools a model sees.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a> {
    pub(crate) search: ToolSearch,
    /// The model; of several that may answer, what holds for each.
    pub(crate) facts: &'a ModelFacts,
    /// Whether there are skills to be read.
    pub(crate) has_skills: bool,
    /// The tools that the model has come to know, the last first.
    pub(crate) known: &'a dyn Fn() -> Vec<String>,
}

/// How much may be defined.
#[derive(Clone, Copy)]
struct Budget {
    tokens: u64,
    tools: usize,
}

impl ReadyTools {
    /// What a model is offered of the tools of an agent.
    pub(crate) fn of(&self, tools: &Arc<AgentTools>, sight: Sight<'_>) -> Arc<Ready> {
        let weighed = self.weighed(tools, sight.has_skills);
        let budget = Budget {
            tokens: sight.facts.context_window / SHARE,
            tools: sight.facts.most_tools.unwrap_or(usize::MAX),
        };
        let searches = match sight.search {
            ToolSearch::Off => false,
            ToolSearch::On => true,
            ToolSearch::Auto => weighed.is_more_than(budget),
        };
        if searches && weighed.can_be_searched() {
            weighed.some((sight.known)(), budget)
        } else {
            weighed.all()
        }
    }

    /// The tools of an agent and what they cost, weighed once.
    fn weighed(&self, tools: &Arc<AgentTools>, has_skills: bool) -> Arc<Weighed> {
        let mut ready = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // What nobody else has any longer belongs to a configuration that is no more.
        ready.retain(|it| Arc::strong_count(&it.tools) > 1);
        let is_same =
            |it: &Arc<Weighed>| Arc::ptr_eq(&it.tools, tools) && it.has_skills == has_skills;
        let known = ready.iter().position(is_same);
        let weighed = match known {
            Some(place) => ready.remove(place),
            None => Arc::new(Weighed::new(tools, has_skills)),
        };
        if ready.len() == REMEMBERED {
            ready.remove(0);
        }
        ready.push(Arc::clone(&weighed));
        weighed
    }
}

/// The tools of an agent and what their definitions cost.
struct Weighed {
    tools: Arc<AgentTools>,
    /// Whether there are skills to be read.
    has_skills: bool,
    /// What each costs that can be offered, in tokens.
    costs: BTreeMap<String, u64>,
    /// What all of them cost.
    tokens: u64,
    /// Those that are always defined.
    always: BTreeSet<String>,
    /// The tools of ours that a model has whether it searches or not.
    own: Vec<OwnTool>,
    /// The tools of ours that it has beside them where it searches.
    for_search: Vec<OwnTool>,
    all: OnceLock<Arc<Ready>>,
    some: Mutex<Vec<(BTreeSet<String>, Arc<Ready>)>>,
}

impl Weighed {
    fn new(tools: &Arc<AgentTools>, has_skills: bool) -> Self {
        let (mut costs, mut always) = (BTreeMap::new(), BTreeSet::new());
        for tool in tools.offered() {
            let name = tool.name().as_str();
            let prepared = &tool.prepared;
            let cost = definition_tokens(name, prepared.description.as_str(), &prepared.schema);
            costs.insert(name.to_owned(), cost);
            if tool.is_always_loaded() {
                always.insert(name.to_owned());
            }
        }
        let mut own = tools.own_tools().to_vec();
        // Whatever a server says may be too long to be shown at once.
        if !own.is_empty() || !costs.is_empty() {
            own.push(read_result_tool());
        }
        own.extend(has_skills.then(read_skill_tool));
        own.retain(|tool| tools.allows_own(tool.name));
        let mut for_search = Vec::from(own_for_search());
        for_search.retain(|tool| tools.allows_own(tool.name));
        Self {
            tools: Arc::clone(tools),
            own,
            for_search,
            has_skills,
            tokens: costs.values().sum(),
            costs,
            always,
            all: OnceLock::new(),
            some: Mutex::default(),
        }
    }

    /// Whether all of them, and those of ours beside them, are too many.
    fn is_more_than(&self, budget: Budget) -> bool {
        self.tokens > budget.tokens || self.costs.len() + self.own.len() > budget.tools
    }

    /// Whether there are tools that need not be defined: what can't be found or can't be called has
    /// to be.
    fn can_be_searched(&self) -> bool {
        let is_there = |name: &str| self.for_search.iter().any(|tool| tool.name == name);
        self.costs.len() > self.always.len() && is_there(SEARCH_TOOLS) && is_there(CALL_TOOL)
    }

    fn all(&self) -> Arc<Ready> {
        let ready = self
            .all
            .get_or_init(|| Arc::new(ready(self.tools.offered(), self.own.clone(), false)));
        Arc::clone(ready)
    }

    /// Those that are always defined, and of those that the model has come to know as many as the
    /// budget allows, the last first. What is gone or no longer allowed is left out.
    fn some(&self, known: Vec<String>, budget: Budget) -> Arc<Ready> {
        let mut chosen = self.always.clone();
        let most = budget
            .tools
            .saturating_sub(self.own.len() + self.for_search.len());
        let mut left = budget.tokens;
        for name in known {
            let cost = self.costs.get(&name).filter(|cost| **cost <= left);
            if let Some(cost) = cost
                && chosen.len() < most
                && chosen.insert(name)
            {
                left -= cost;
            }
        }
        let mut remembered = self.some.lock().unwrap_or_else(PoisonError::into_inner);
        let place = remembered.iter().position(|(names, _)| *names == chosen);
        let entry = place.map_or_else(
            || {
                let tools = chosen.iter().filter_map(|name| self.tools.get(name));
                let own = self.own.iter().chain(&self.for_search).cloned();
                let ready = Arc::new(ready(tools, own, true));
                (chosen, ready)
            },
            |place| remembered.remove(place),
        );
        if remembered.len() == CHOICES {
            remembered.remove(0);
        }
        let ready = Arc::clone(&entry.1);
        remembered.push(entry);
        ready
    }
}

/// The tools of ours that a model has beside them where it searches for others.
fn own_for_search() -> [OwnTool; 3] {
    [search_tools_tool(), describe_tool_tool(), call_tool_tool()]
}

fn ready<'t>(
    tools: impl Iterator<Item = &'t AgentTool>,
    own: impl IntoIterator<Item = OwnTool>,
    searches: bool,
) -> Ready {
    let set = assemble(tools, own);
    Ready {
        tokens: tools_tokens(&set),
        set,
        searches,
    }
}

/// The tools that a model is told about, in the order of their names, which does not change from one
/// turn to the next: services keep what they have read before.
fn assemble<'t>(
    tools: impl Iterator<Item = &'t AgentTool>,
    own: impl IntoIterator<Item = OwnTool>,
) -> ToolSet {
    let specs = tools.map(|tool| ToolSpec {
        name: tool.name().as_str().to_owned(),
        description: tool.prepared.description.clone(),
        parameters: tool.prepared.schema.clone(),
    });
    let own = own.into_iter().map(|own| ToolSpec {
        name: own.name.to_owned(),
        description: note(own.description, &[]),
        parameters: own.input_schema,
    });
    let mut specs: Vec<ToolSpec> = specs.chain(own).collect();
    specs.sort_by(|one, other| one.name.cmp(&other.name));
    ToolSet::new(specs, adapted)
}

fn adapted(
    schema: &Map<String, Value>,
    dialect: ToolDialect,
) -> Result<Map<String, Value>, String> {
    let dialect = match dialect {
        ToolDialect::General => return Ok(schema.clone()),
        ToolDialect::Gemini => SchemaDialect::Gemini,
    };
    schema_for_model(schema, dialect).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_defined_where_tools_are_searched_for_costs_next_to_nothing() {
        let ready = ready(std::iter::empty(), own_for_search(), true);
        assert!(ready.tokens < 700, "{}", ready.tokens);
        let bytes = ready.set.tools().iter().map(|tool| {
            let schema = serde_json::to_string(&tool.parameters).unwrap();
            tool.name.len() + tool.description.len() + schema.len()
        });
        let bytes: usize = bytes.sum();
        assert!(bytes / 4 < 700, "{bytes}");
    }
}
