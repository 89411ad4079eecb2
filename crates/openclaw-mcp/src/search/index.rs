//! The tools of an agent, ready to be searched.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use openclaw_ranking::{Document, Index};

use crate::assembly::AgentTool;
use crate::names::fold;

/// How much of a title and of a description counts, in bytes.
const COUNTED: usize = 4_096;

/// The tools that an agent is offered, ready to be searched.
pub(crate) struct ToolIndex {
    ranking: Index,
    /// The places of the tools among all of the agent, in the order of the ranking.
    places: Vec<usize>,
    /// All spellings of all names in small letters, as hashes, sorted, with the number of the tool.
    /// Whatever is found by one is compared letter by letter.
    spelled: Vec<(u64, usize)>,
}

/// What a search found.
pub(crate) struct Hits<'t> {
    /// The best tools, best first.
    pub(crate) best: Vec<&'t AgentTool>,
    /// How many more fit.
    pub(crate) more: usize,
}

impl ToolIndex {
    /// Makes those ready that the agent is offered.
    pub(crate) fn new(tools: &[AgentTool]) -> Self {
        let offered = tools.iter().enumerate().filter(|(_, it)| it.is_offered());
        let (places, offered): (Vec<usize>, Vec<&AgentTool>) = offered.unzip();
        let mut spelled = Vec::with_capacity(3 * offered.len());
        let mut aliases: Vec<Vec<String>> = Vec::with_capacity(offered.len());
        for (number, tool) in offered.iter().enumerate() {
            let spellings = tool.named.spellings();
            spelled.extend(spellings.iter().map(|it| (hash(it.folded()), number)));
            aliases.push(spellings.into_iter().map(|it| it.text).collect());
        }
        spelled.sort_unstable();
        let aliases: Vec<Vec<&str>> = aliases
            .iter()
            .map(|of_tool| of_tool.iter().map(String::as_str).collect())
            .collect();
        let texts: Vec<String> = offered.iter().map(|tool| text(tool)).collect();
        let parameters: Vec<Vec<&str>> = offered.iter().map(|tool| parameters(tool)).collect();
        let known = aliases.iter().zip(&texts).zip(&parameters);
        let documents: Vec<Document<'_>> = offered
            .iter()
            .zip(known)
            .map(|(tool, ((aliases, text), parameters))| Document {
                name: tool.name().as_str(),
                own_name: &tool.prepared.definition.name,
                aliases,
                description: text,
                parameters,
            })
            .collect();
        Self {
            ranking: Index::new(&documents),
            places,
            spelled,
        }
    }

    /// The tools that fit a query, at most so many: those that are called so first.
    pub(crate) fn search<'t>(&self, tools: &'t [AgentTool], query: &str, limit: usize) -> Hits<'t> {
        let mut numbers = self.spelled(tools, query);
        let ranking = self.ranking.rank_all(query, limit + numbers.len());
        for ranked in &ranking.best {
            if !numbers.contains(&ranked.place) {
                numbers.push(ranked.place);
            }
        }
        let fitting = ranking.fitting.max(numbers.len());
        numbers.truncate(limit);
        let best: Vec<&AgentTool> = numbers
            .iter()
            .filter_map(|number| self.tool(tools, *number))
            .collect();
        Hits {
            more: fitting - best.len(),
            best,
        }
    }

    /// The tools that are meant by a spelling of a name: one, unless several can be written so.
    pub(crate) fn called<'t>(&self, tools: &'t [AgentTool], spelling: &str) -> Vec<&'t AgentTool> {
        let numbers = self.spelled(tools, spelling);
        numbers
            .into_iter()
            .filter_map(|number| self.tool(tools, number))
            .collect()
    }

    fn tool<'t>(&self, tools: &'t [AgentTool], number: usize) -> Option<&'t AgentTool> {
        tools.get(*self.places.get(number)?)
    }

    /// The numbers of the tools that are called so: by the name that models know, else letter by
    /// letter, else but for the case of letters.
    fn spelled(&self, tools: &[AgentTool], spelling: &str) -> Vec<usize> {
        let folded = fold(spelling);
        let hash = hash(&folded);
        let begin = self.spelled.partition_point(|(known, _)| *known < hash);
        let of_hash = self.spelled.get(begin..).unwrap_or_default().iter();
        let (mut exact, mut meant) = (Vec::new(), Vec::new());
        for (_, number) in of_hash.take_while(|(known, _)| *known == hash) {
            let Some(tool) = self.tool(tools, *number) else {
                continue;
            };
            if tool.name().as_str() == spelling {
                return vec![*number];
            }
            let spellings = tool.named.spellings();
            if spellings.iter().any(|it| it.text == spelling) {
                exact.push(*number);
            } else if spellings.iter().any(|it| it.folded() == folded) {
                meant.push(*number);
            }
        }
        let mut found = if exact.is_empty() { meant } else { exact };
        found.dedup();
        found
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// What a tool is about, beside its name: whose it is, its title and its description.
fn text(tool: &AgentTool) -> String {
    let definition = &tool.prepared.definition;
    let title = definition
        .title
        .as_deref()
        .or(definition.annotations.title.as_deref());
    let parts = [title, definition.description.as_deref()];
    let mut text = tool.server.name().to_owned();
    for part in parts.into_iter().flatten() {
        text.push('\n');
        text.push_str(
            part.get(..part.floor_char_boundary(COUNTED))
                .unwrap_or_default(),
        );
    }
    text
}

fn parameters(tool: &AgentTool) -> Vec<&str> {
    let properties = tool.prepared.schema.get("properties");
    let properties = properties.and_then(serde_json::Value::as_object);
    let names = properties.into_iter().flat_map(serde_json::Map::keys);
    names.map(String::as_str).collect()
}
