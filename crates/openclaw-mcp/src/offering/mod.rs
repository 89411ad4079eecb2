//! What a server offers, made ready once for models and for calls.

mod schema_text;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use openclaw_content::{Detections, ModelText, description, title};
use openclaw_mcp_client::Tool;
use serde_json::{Map, Value};

use crate::arguments::{ArgumentCheck, OutputCheck};
use crate::pins::{DefinitionHash, Pins, Verdict};
use crate::policy::ServerFilter;
use crate::schema::{SchemaDialect, SchemaError, schema_for_model};
use crate::supervise::Catalog;

/// A tool of a server, made ready.
pub struct PreparedTool {
    /// The tool in the server's words.
    pub definition: Arc<Tool>,
    /// What makes its definition the same as another.
    pub hash: DefinitionHash,
    /// Whether it is what it was.
    pub verdict: Verdict,
    /// What the model reads about it.
    pub description: ModelText,
    /// A name for people.
    pub title: Option<ModelText>,
    /// What the model is told that it takes.
    pub schema: Map<String, Value>,
    arguments: OnceLock<Option<ArgumentCheck>>,
    output: OnceLock<Option<OutputCheck>>,
}

impl PreparedTool {
    /// What checks its arguments; none if its schema can't be checked against.
    pub(crate) fn arguments(&self) -> Option<&ArgumentCheck> {
        let prepared = self.arguments.get_or_init(|| {
            let check = ArgumentCheck::new(&self.definition.input_schema);
            check
                .inspect_err(|error| {
                    tracing::warn!(tool = self.definition.name, "not checked: {}", error.0);
                })
                .ok()
        });
        prepared.as_ref()
    }

    /// What checks its structured results; none if it promises nothing.
    pub(crate) fn output(&self) -> Option<&OutputCheck> {
        let prepared = self.output.get_or_init(|| {
            let schema = self.definition.output_schema.as_ref()?;
            OutputCheck::new(schema)
                .inspect_err(|error| {
                    tracing::warn!(tool = self.definition.name, "not checked: {}", error.0);
                })
                .ok()
        });
        prepared.as_ref()
    }

    /// What a model of this kind is told that it takes.
    pub fn schema_for(&self, dialect: SchemaDialect) -> Result<Map<String, Value>, SchemaError> {
        schema_for_model(&self.schema, dialect)
    }

    /// Whether its definition is not the one that was first seen.
    pub fn is_changed(&self) -> bool {
        matches!(self.verdict, Verdict::Changed { .. })
    }
}

/// What a server offers, made ready.
pub struct Offering {
    /// What it was made of.
    pub(crate) catalog: Arc<Catalog>,
    /// The tools that can be offered.
    pub tools: Vec<Arc<PreparedTool>>,
    /// Tools that can't be, and why: one sentence each.
    pub problems: Vec<String>,
    /// Whether the definitions could be compared with those first seen.
    pub(crate) is_compared: bool,
    /// Tools that the server says it does not have, although it listed them.
    gone: Mutex<BTreeSet<String>>,
}

impl Offering {
    /// Makes ready what a server offers under a name.
    pub(crate) fn new(
        server: &str,
        catalog: Arc<Catalog>,
        filter: &ServerFilter,
        pins: Option<&Pins>,
    ) -> Self {
        let mut problems = Vec::new();
        let mut is_compared = true;
        let verdicts = match pins.map(|pins| pins.check(server, &catalog.tools)) {
            Some(Ok(verdicts)) => verdicts,
            // Nothing is known to be what it was.
            None => Vec::new(),
            Some(Err(error)) => {
                let problem = format!("the tools of `{server}` can't be compared: {error}");
                tracing::error!(server, "{problem}");
                problems.push(problem);
                is_compared = false;
                Vec::new()
            }
        };
        let mut tools = Vec::with_capacity(catalog.tools.len());
        let mut found = Detections::default();
        for (place, tool) in catalog.tools.iter().enumerate() {
            if !filter.offers(&tool.name) {
                continue;
            }
            let verdict = verdicts.get(place).copied().unwrap_or(Verdict::Unknown);
            match prepare(server, tool, verdict, &mut found) {
                Ok(tool) => tools.push(Arc::new(tool)),
                Err(reason) => {
                    let problem =
                        format!("the tool `{server}/{}` is left out: {reason}", tool.name);
                    let problem = openclaw_content::shown_line(&problem, 400);
                    tracing::warn!(server, "{problem}");
                    problems.push(problem);
                }
            }
        }
        for pattern in found.iter() {
            tracing::warn!(
                server,
                pattern = pattern.name(),
                "a definition looks like an injection"
            );
        }
        Self {
            catalog,
            tools,
            problems,
            is_compared,
            gone: Mutex::default(),
        }
    }

    /// Notes that the server does not have a tool, although it listed it.
    pub(crate) fn remove(&self, tool: &str) {
        self.lock_gone().insert(tool.to_owned());
    }

    /// The tools that are still there.
    pub(crate) fn there(&self) -> Vec<&Arc<PreparedTool>> {
        let gone = self.lock_gone();
        let is_there = |tool: &&Arc<PreparedTool>| !gone.contains(&tool.definition.name);
        self.tools.iter().filter(is_there).collect()
    }

    /// How many tools are gone.
    pub(crate) fn gone(&self) -> usize {
        self.lock_gone().len()
    }

    fn lock_gone(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn prepare(
    server: &str,
    tool: &Arc<Tool>,
    verdict: Verdict,
    found: &mut Detections,
) -> Result<PreparedTool, String> {
    let schema = schema_for_model(&tool.input_schema, SchemaDialect::General)
        .map_err(|error| error.to_string())?;
    let schema = schema_text::neutralised(schema, found)?;
    let described = description(server, tool.description.as_deref().unwrap_or_default());
    let titled = tool.title.as_ref().or(tool.annotations.title.as_ref());
    let titled = titled.map(|text| title(server, text));
    *found = found.union(described.detections);
    if let Some(titled) = &titled {
        *found = found.union(titled.detections);
    }
    if let Verdict::Changed { .. } = verdict {
        tracing::warn!(
            server,
            tool = tool.name,
            "the definition of a tool has changed"
        );
    }
    Ok(PreparedTool {
        definition: Arc::clone(tool),
        hash: DefinitionHash::of(tool),
        verdict,
        description: described.text,
        title: titled.map(|titled| titled.text),
        schema,
        arguments: OnceLock::new(),
        output: OnceLock::new(),
    })
}
