//! Parts of the configuration that stand for themselves: a bad one is reported and spoils no other.

use std::collections::HashMap;

use serde_json::{Value as Json, json};

use crate::path::JsonPath;
use crate::report::{Kind, Problem};
use crate::shape::{Context, Definitions, Shape};
use crate::source::Span;
use crate::tree::{Member, Node};

/// How many parts one place may have.
pub(crate) const MOST: usize = 10_000;

/// A part under its name.
#[derive(Clone, Debug)]
pub(crate) struct Entry<T> {
    pub(crate) name: String,
    pub(crate) raw: T,
    pub(crate) path: JsonPath,
    pub(crate) name_span: Span,
    /// Why it can't be used, where it can't.
    pub(crate) blocked: Vec<Problem>,
    /// Whether something of it could not be read, so that nothing can be called missing.
    pub(crate) is_partial: bool,
}

/// Parts by their names, in the order of the file.
#[derive(Clone, Debug)]
pub(crate) struct Entries<T>(pub(crate) Vec<Entry<T>>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Shape + Default> Entries<T> {
    /// Reads the parts whose names `accept` takes.
    pub(crate) fn decode_with(
        node: &Node,
        context: &mut Context<'_>,
        accept: impl Fn(&Member, &mut Context<'_>) -> bool,
    ) -> Option<Self> {
        let object = context.object(node)?;
        if object.members.len() > MOST {
            let message = format!("more than {MOST} stand here");
            context.error(Kind::Value, node.span, message);
            return None;
        }
        let mut entries = Vec::with_capacity(object.members.len());
        let mut earlier = earlier_problems(context);
        for member in &object.members {
            context.path.push_key(&member.key);
            if accept(member, context) {
                let earlier = earlier.remove(&member.key).unwrap_or_default();
                entries.push(entry(member, earlier, context));
            }
            context.path.pop();
        }
        Some(Self(entries))
    }
}

fn entry<T: Shape + Default>(
    member: &Member,
    mut problems: Vec<Problem>,
    context: &mut Context<'_>,
) -> Entry<T> {
    let (before, blocking) = (context.report.len(), context.report.blocking());
    let raw = T::decode(&member.value, context);
    let is_partial = raw.is_none()
        || problems
            .iter()
            .any(|problem| matches!(problem.kind, Kind::Include | Kind::Syntax));
    problems.extend_from_slice(context.report.since(before));
    problems.retain(Problem::blocks);
    if problems.is_empty() && context.report.blocking() > blocking {
        // A part must not pass for sound because the report is full.
        let message = "has mistakes beyond those that are listed";
        problems.push(Problem::error(Kind::Rule, &context.path, message).at(member.key_span));
    }
    // Whether anybody needs a variable shows when all places have been laid over each other.
    context.report.take_missing_variables(before);
    Entry {
        name: member.key.clone(),
        raw: raw.unwrap_or_default(),
        path: context.path.clone(),
        name_span: member.key_span,
        blocked: problems,
        is_partial,
    }
}

impl<T: Shape + Default> Shape for Entries<T> {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        Self::decode_with(node, context, |_, _| true)
    }

    fn schema(definitions: &mut Definitions) -> Json {
        json!({
            "type": "object",
            "maxProperties": MOST,
            "additionalProperties": T::schema(definitions),
        })
    }
}

/// What was wrong with each part before its fields were looked at: includes, duplicate keys.
fn earlier_problems(context: &Context<'_>) -> HashMap<String, Vec<Problem>> {
    let mut earlier: HashMap<String, Vec<Problem>> = HashMap::new();
    for problem in context.report.problems() {
        if let Some(name) = problem.path.key_inside(&context.path) {
            earlier
                .entry(name.to_owned())
                .or_default()
                .push(problem.clone());
        }
    }
    earlier
}
