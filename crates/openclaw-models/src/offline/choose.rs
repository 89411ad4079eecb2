//! Which tool is called, if any.

use serde_json::{Map, Value};

use super::asked::Asked;
use super::candidate::{Candidate, by_use, candidate};
use super::parameters::Parameter;
use super::search::{CALL, DESCRIBE, SEARCH};
use super::stated::Statement;
use crate::tools::{ToolSet, ToolSpec};

/// Tools that lead to others or go on where one ended: words never lead to them, only their names.
pub const LEADING: [&str; 8] = [
    CALL,
    DESCRIBE,
    "mcp_list_resources",
    "mcp_manage",
    "mcp_read_resource",
    "mcp_read_result",
    SEARCH,
    "read_skill",
];

/// How many tools are looked at more closely.
const CANDIDATES: usize = 16;
/// How well a tool has to fit in words, compared with the best, to be preferred for what it takes.
const LEAST_OF_BEST: f32 = 0.4;
/// The same if none has all that it needs, so that words have to decide.
const LEAST_OF_BEST_INCOMPLETE: f32 = 0.75;

/// What a message leads to.
#[derive(Debug)]
pub(super) enum Choice<'a> {
    /// A tool, with everything that it needs.
    Call {
        tool: &'a ToolSpec,
        arguments: Map<String, Value>,
        /// What the message states besides.
        unused: Vec<String>,
    },
    /// A tool that takes less than the message states, so that something else may be meant.
    Doubtful {
        tool: &'a ToolSpec,
        arguments: Map<String, Value>,
        unused: Vec<String>,
    },
    /// A tool that the message says not to call, and the words that say so.
    Negated { tool: &'a ToolSpec, by: &'a str },
    /// A tool that needs more.
    Incomplete {
        tool: &'a ToolSpec,
        missing: Vec<Parameter<'a>>,
    },
    /// No tool; perhaps one of these is meant.
    Nothing {
        near: Vec<&'a ToolSpec>,
        count: usize,
    },
}

impl Choice<'_> {
    /// Whether nothing can be gained by a search: the message says what not to do, or means a tool
    /// that leads to others.
    pub(super) fn is_settled(&self) -> bool {
        match self {
            Self::Call { .. } | Self::Negated { .. } => true,
            Self::Doubtful { tool, .. } | Self::Incomplete { tool, .. } => {
                LEADING.contains(&tool.name.as_str())
            }
            Self::Nothing { .. } => false,
        }
    }
}

/// Chooses the tool that a message asks for.
pub(super) fn choose<'a>(text: &'a str, tools: &'a ToolSet) -> Choice<'a> {
    let index = tools.index();
    let is_name = |quoted: &str| {
        // Names are short; what is longer is not looked for among them.
        quoted.len() <= 128
            && index.rank(quoted, 1).first().is_some_and(|first| {
                let all = |named: openclaw_ranking::Named| named.end - named.start == quoted.len();
                first.named.is_some_and(all)
            })
    };
    let statement = Statement::read(text, is_name);
    let asked = Asked::read(statement.only_words());
    let ranked = index.rank(&asked.text, CANDIDATES);
    let candidates = ranked.into_iter().filter_map(|ranked| {
        let tool = tools.tools().get(ranked.place)?;
        let is_leading = LEADING.contains(&tool.name.as_str());
        let candidate = candidate(&statement, &asked, tool, ranked);
        (candidate.ranked.is_named() || !is_leading).then_some(candidate)
    });
    let mut candidates: Vec<Candidate<'a>> = candidates.collect();
    let Some(chosen) = preferred(&candidates) else {
        return nothing(&candidates, tools);
    };
    let chosen = candidates.swap_remove(chosen);
    if let Some(span) = chosen.negation(&asked, &statement) {
        let (tool, by) = (chosen.tool, statement.at(span));
        return Choice::Negated { tool, by };
    }
    decided(chosen)
}

/// What is done with the tool that is meant.
fn decided(chosen: Candidate<'_>) -> Choice<'_> {
    let is_named = chosen.ranked.is_named();
    let Candidate {
        tool,
        parameters,
        filled,
        ..
    } = chosen;
    if filled.missing.is_empty() {
        let (arguments, unused) = (filled.arguments, filled.unused);
        // Whoever names the tool and each argument means those, whatever else is said.
        return if unused.is_empty() || (is_named && filled.is_by_name) {
            Choice::Call {
                tool,
                arguments,
                unused,
            }
        } else {
            Choice::Doubtful {
                tool,
                arguments,
                unused,
            }
        };
    }
    let mut place = 0;
    let mut missing = parameters;
    missing.retain(|_| {
        place += 1;
        filled.missing.contains(&(place - 1))
    });
    Choice::Incomplete { tool, missing }
}

/// The place of the candidate that is to be taken.
fn preferred(candidates: &[Candidate<'_>]) -> Option<usize> {
    let places = 0..candidates.len();
    if let Some(named) = candidates.iter().find_map(|it| it.ranked.named) {
        // Tools of several servers can have the same name: the one that fits is meant.
        let same = places.filter(|at| candidates[*at].ranked.named == Some(named));
        let same: Vec<usize> = same.collect();
        let mut complete = same.iter().filter(|at| candidates[**at].is_complete());
        return complete.next().or(same.first()).copied();
    }
    let asked = || candidates.iter().filter(|it| it.is_asked);
    let best_of = |score: f32, it: &Candidate<'_>| score.max(it.ranked.score);
    // What can't take what is stated is no measure for what can.
    let best_fitting = asked()
        .filter(|it| it.filled.unused.is_empty())
        .fold(0.0, best_of);
    let best = asked().fold(0.0, best_of);
    let meant: Vec<usize> = places.filter(|at| candidates[*at].is_meant()).collect();
    let above = |least: f32| {
        let near = meant.iter().map(|at| (*at, &candidates[*at]));
        near.filter(move |(_, candidate)| candidate.ranked.score >= least)
    };
    let sure = above(LEAST_OF_BEST * best_fitting).filter(|(_, candidate)| candidate.is_sure());
    let sure = sure.min_by(|one, other| by_use(one.1, other.1));
    let chosen = sure.or_else(|| {
        let near = above(LEAST_OF_BEST_INCOMPLETE * best);
        let near = near.filter(|(_, candidate)| candidate.is_worth_telling());
        near.min_by(|one, other| by_use(one.1, other.1))
    });
    chosen.map(|(at, _)| at)
}

fn nothing<'a>(candidates: &[Candidate<'a>], tools: &'a ToolSet) -> Choice<'a> {
    let is_shown = |tool: &&ToolSpec| !LEADING.contains(&tool.name.as_str());
    let mut near: Vec<&ToolSpec> = candidates.iter().map(|it| it.tool).collect();
    if near.is_empty() {
        near = tools
            .tools()
            .iter()
            .filter(is_shown)
            .take(CANDIDATES)
            .collect();
    }
    let count = tools.tools().iter().filter(is_shown).count();
    Choice::Nothing { near, count }
}
