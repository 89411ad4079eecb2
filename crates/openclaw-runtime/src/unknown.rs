//! Names that may not be there, and what is said about those.

use std::sync::Arc;

use openclaw_content::shown_line;
use openclaw_engine::EngineFailure;
use openclaw_mcp::{AgentPlan, AgentTools, PlannedServer};

/// How alike a name must be to be suggested.
const LIKE: f64 = 0.7;
/// How much of a name is shown.
const SHOWN: usize = 100;

/// The server of this name.
pub(crate) fn found_server(
    agent: &AgentPlan,
    name: &str,
) -> Result<Arc<PlannedServer>, EngineFailure> {
    let found = agent.server(name).cloned();
    found.ok_or_else(|| server(agent, name))
}

/// There is no such server.
fn server(agent: &AgentPlan, name: &str) -> EngineFailure {
    let shown = shown_line(name, SHOWN);
    let failure = EngineFailure::asker("unknown-server", format!("there is no server `{shown}`"));
    let names: Vec<&str> = agent.server_names().collect();
    if names.is_empty() {
        return failure.hint("no servers are configured; `openclaw mcp connect` adds one");
    }
    match nearest(name, names.iter().copied()) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint(format!("the servers are: {}", names.join(", "))),
    }
}

/// There is no such tool among those that are known.
pub(crate) fn tool(tools: &AgentTools, name: &str) -> EngineFailure {
    let shown = shown_line(name, SHOWN);
    let failure = EngineFailure::asker("unknown-tool", format!("there is no tool `{shown}`"));
    let spellings: Vec<String> = tools
        .offered()
        .flat_map(|tool| {
            let raw = &tool.prepared.definition.name;
            [
                tool.name().as_str().to_owned(),
                format!("{}/{raw}", tool.server.name()),
            ]
        })
        .collect();
    match nearest(name, spellings.iter().map(String::as_str)) {
        Some(near) => failure.hint(format!("did you mean `{}`?", shown_line(near, SHOWN))),
        None => failure.hint("`openclaw mcp tools` lists them"),
    }
}

/// There is no such prompt of a server.
pub(crate) fn prompt(server: &str, name: &str, known: &[&str]) -> EngineFailure {
    let (server, shown) = (shown_line(server, SHOWN), shown_line(name, SHOWN));
    let message = format!("the server `{server}` has no prompt `{shown}`");
    let failure = EngineFailure::asker("unknown-prompt", message);
    match nearest(name, known.iter().copied()) {
        Some(near) => failure.hint(format!(
            "did you mean `/{server}:{}`?",
            shown_line(near, SHOWN)
        )),
        None if known.is_empty() => failure.hint("it offers no prompts"),
        None => failure.hint(format!("`/mcp prompts {server}` lists them")),
    }
}

/// The command that somebody meant who mistyped it: one letter off in a short name, two in a long one,
/// or only the case.
pub(crate) fn slip<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    known
        .map(|known| (strsim::damerau_levenshtein(&name, known), known))
        .filter(|(distance, known)| *distance <= (known.chars().count() / 3).clamp(1, 2))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// The name that is most like another one, if any is.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    known
        .map(|known| (strsim::jaro_winkler(&name, &known.to_lowercase()), known))
        .filter(|(likeness, _)| *likeness >= LIKE)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, known)| known)
}
