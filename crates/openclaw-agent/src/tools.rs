//! The tools of an agent as a model sees them: one function for every way in.

use std::sync::{Arc, Mutex, PoisonError};

use openclaw_content::note;
use openclaw_mcp::{AgentTools, SchemaDialect, read_result_tool, schema_for_model};
use openclaw_models::{ToolDialect, ToolSet, ToolSpec};
use serde_json::{Map, Value};

use crate::compaction::tools_tokens;

/// For how many agents and sessions it is remembered.
const REMEMBERED: usize = 64;

/// The tools of agents, made ready for models once.
#[derive(Default)]
pub(crate) struct ReadyTools(Mutex<Vec<(Arc<AgentTools>, Arc<Ready>)>>);

/// The tools of an agent, made ready for models.
pub(crate) struct Ready {
    pub(crate) set: ToolSet,
    /// How many tokens their definitions cost, roughly.
    pub(crate) tokens: u64,
}

impl ReadyTools {
    /// What a model is offered of the tools of an agent.
    pub(crate) fn of(&self, tools: &Arc<AgentTools>) -> Arc<Ready> {
        let mut ready = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = ready.iter().position(|(of, _)| Arc::ptr_eq(of, tools));
        if let Some(place) = known {
            let found = ready.remove(place);
            let set = Arc::clone(&found.1);
            ready.push(found);
            return set;
        }
        let set = assemble(tools);
        let tokens = tools_tokens(&set);
        let set = Arc::new(Ready { set, tokens });
        if ready.len() == REMEMBERED {
            ready.remove(0);
        }
        ready.push((Arc::clone(tools), Arc::clone(&set)));
        set
    }
}

/// The tools that a model is told about, in the order of their names, which does not change from one
/// turn to the next: services keep what they have read before.
fn assemble(tools: &AgentTools) -> ToolSet {
    let mut specs: Vec<ToolSpec> = tools
        .offered()
        .map(|tool| ToolSpec {
            name: tool.name().as_str().to_owned(),
            description: tool.prepared.description.clone(),
            parameters: tool.prepared.schema.clone(),
        })
        .collect();
    if !specs.is_empty() {
        let own = read_result_tool();
        specs.push(ToolSpec {
            name: own.name.to_owned(),
            description: note(own.description, &[]),
            parameters: own.input_schema,
        });
        specs.sort_by(|one, other| one.name.cmp(&other.name));
    }
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
