//! What a value is read with: the variables, the report and the place.

use std::collections::BTreeMap;
use std::sync::Arc;

use openclaw_secrets::{Secret, looks_like_credential};

use crate::environment::Environment;
use crate::expand::{Text, expand, expand_credential};
use crate::parse::printable;
use crate::path::JsonPath;
use crate::report::{Kind, Problem, Report};
use crate::shape::Shape;
use crate::source::Span;
use crate::tree::{Member, Node, Object, Value};

/// A value, and where it was given.
#[derive(Clone, Debug)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
    pub(crate) path: Arc<JsonPath>,
}

/// A field of an object.
#[derive(Clone, Debug, Default)]
pub(crate) enum Field<T> {
    /// It was not given.
    #[default]
    Absent,
    /// It was given and is wrong, which has been reported: nobody needs to miss it.
    Invalid,
    /// It was given.
    Given(Located<T>),
}

impl<T> Field<T> {
    pub(crate) fn located(&self) -> Option<&Located<T>> {
        match self {
            Self::Given(located) => Some(located),
            Self::Absent | Self::Invalid => None,
        }
    }

    pub(crate) fn value(&self) -> Option<&T> {
        self.located().map(|located| &located.value)
    }

    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl<T: Copy> Field<T> {
    pub(crate) fn or(&self, default: T) -> T {
        self.value().copied().unwrap_or(default)
    }
}

/// The values of variables that are credentials, by the variables' names.
pub(crate) type UsedCredentials = BTreeMap<String, Secret>;

/// What values are read with.
pub(crate) struct Context<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) report: &'a mut Report,
    pub(crate) path: JsonPath,
    /// The credentials that were put in for variables.
    pub(crate) used: &'a mut UsedCredentials,
}

impl Context<'_> {
    pub(crate) fn error(&mut self, kind: Kind, span: Span, message: impl Into<String>) {
        let problem = Problem::error(kind, &self.path, message).at(span);
        self.report.add(problem);
    }

    /// Says that a value has another type than is wanted.
    pub(crate) fn wrong_type(&mut self, node: &Node, wanted: &str) {
        let mut problem = Problem::error(
            Kind::Type,
            &self.path,
            format!("expected {wanted}, found {}", node.kind()),
        )
        .at(node.span);
        let scalar = matches!(node.value, Value::Number(_) | Value::Bool(_));
        if scalar && wanted.starts_with("a string") {
            problem = problem.help("put it in quotes");
        }
        if let Value::String(text) = &node.value
            && let Some(bare) = unquoted(text, wanted)
        {
            problem = problem
                .help(format!("write {bare} without quotes"))
                .suggest(bare);
        }
        self.report.add(problem);
    }

    pub(crate) fn object<'n>(&mut self, node: &'n Node) -> Option<&'n Object> {
        let object = node.as_object();
        if object.is_none() {
            self.wrong_type(node, "an object");
        }
        object
    }

    /// Reads a string and puts its variables in.
    pub(crate) fn text(&mut self, node: &Node) -> Option<Text> {
        self.string(node, expand)
    }

    /// Reads a string in which `$VAR` as a whole is a variable too.
    pub(crate) fn credential_text(&mut self, node: &Node) -> Option<Text> {
        self.string(node, expand_credential)
    }

    fn string(
        &mut self,
        node: &Node,
        expand: impl FnOnce(&str, &Environment) -> Text,
    ) -> Option<Text> {
        let Value::String(source) = &node.value else {
            self.wrong_type(node, "a string");
            return None;
        };
        let text = expand(source, self.environment);
        for name in &text.variables {
            let value = self.environment.variable(name).unwrap_or_default();
            if looks_like_credential(name, value) {
                self.used
                    .entry(name.clone())
                    .or_insert_with(|| Secret::new(value));
            }
        }
        for name in &text.missing {
            let message = format!("the environment variable {name} is not set");
            // What can be left out is; a policy or an agent that can't be read must not count as
            // one without restrictions.
            let problem = if self.path.is_in_a_part() {
                Problem::warning(Kind::MissingVariable, &self.path, message)
            } else {
                Problem::error(Kind::MissingVariable, &self.path, message)
            };
            self.report.add(problem.at(node.span).help(format!(
                "set it, add it to `.env`, or write `$${{{name}}}` for that text itself"
            )));
        }
        Some(text)
    }

    /// Reads the member of an object into its field.
    ///
    /// Where a field stands under two of its names, the first name wins.
    pub(crate) fn field<T: Shape>(&mut self, member: &Member, name: &str, field: &mut Field<T>) {
        let value = match T::decode(&member.value, self) {
            Some(value) => Field::Given(Located {
                value,
                span: member.value.span,
                path: Arc::new(self.path.clone()),
            }),
            None => Field::Invalid,
        };
        if field.is_absent() {
            *field = value;
            return;
        }
        let replaces = member.key == name;
        let first = field
            .located()
            .and_then(|located| located.path.last_key())
            .unwrap_or(name);
        let counts = if replaces { name } else { first };
        let message = format!(
            "`{}` and `{first}` are names of one field; `{counts}` counts",
            member.key
        );
        let problem = Problem::warning(Kind::Advice, &self.path, message).at(member.key_span);
        self.report.add(problem);
        if replaces {
            *field = value;
        }
    }

    /// Warns about a key that is nearly one of those that are known.
    pub(crate) fn misspelt_key(&mut self, member: &Member, known: &[&str]) {
        if nearest(&member.key, known).is_some() {
            self.unknown_key(member, known);
        }
    }

    /// Warns about a key that is not among the known ones.
    pub(crate) fn unknown_key(&mut self, member: &Member, known: &[&str]) {
        let key = printable(&member.key);
        let mut problem =
            Problem::warning(Kind::UnknownKey, &self.path, format!("unknown key `{key}`"))
                .at(member.key_span);
        if let Some(nearest) = nearest(&member.key, known) {
            problem = problem
                .help(format!("did you mean `{nearest}`?"))
                .suggest(nearest);
        }
        self.report.add(problem);
    }
}

/// The text of a number or boolean that somebody put in quotes.
fn unquoted<'t>(text: &'t str, wanted: &str) -> Option<&'t str> {
    let bare = text.trim();
    let fits = match wanted {
        "a boolean" => matches!(bare, "true" | "false"),
        wanted if wanted.contains("number") => bare.parse::<u32>().is_ok(),
        _ => false,
    };
    fits.then_some(bare)
}

/// The known word that is most like the given one, if one is alike at all.
pub(crate) fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let lower = word.to_lowercase();
    known
        .iter()
        .map(|candidate| {
            let likeness = strsim::jaro_winkler(&lower, &candidate.to_lowercase());
            (likeness, *candidate)
        })
        .filter(|(likeness, _)| *likeness >= 0.85)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_finds_its_neighbour_and_a_foreign_one_none() {
        let known = ["command", "cwd", "connectionTimeoutMs", "url"];
        assert_eq!(nearest("comand", &known), Some("command"));
        assert_eq!(nearest("Command", &known), Some("command"));
        assert_eq!(
            nearest("connectionTimeout", &known),
            Some("connectionTimeoutMs")
        );
        assert_eq!(nearest("banana", &known), None);
    }
}
