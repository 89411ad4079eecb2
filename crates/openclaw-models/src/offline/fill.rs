//! Which arguments a message states for a tool.

use std::collections::HashSet;

use openclaw_ranking::{Word, terms, words};
use serde_json::{Map, Value};

use super::pairs::{Said, pairs};
use super::parameters::{Parameter, Shape, Topic};
use super::rest::{Known, after_name, after_words};
use super::shapes::Kind;
use super::stated::{Span, Statement};
use super::typed::{fitting, is_same, truth, typed};
use super::unused::{Leftovers, unused};

/// What a message states for a tool.
#[derive(Debug)]
pub(super) struct Filled {
    pub(super) arguments: Map<String, Value>,
    /// The places of the parameters that it does not state and that are required.
    pub(super) missing: Vec<usize>,
    /// How much of what it states was used.
    pub(super) used: usize,
    /// How many lists have at most one entry: a tool that takes no list may be meant.
    pub(super) singles: usize,
    /// Whether what was left of the message is one of the arguments.
    pub(super) took_rest: bool,
    /// How many arguments were found by what they look like: paths, addresses, times, zones.
    pub(super) by_looks: usize,
    /// Whether all arguments, of which there are some, were stated by name.
    pub(super) is_by_name: bool,
    /// Values that the message states and that no argument has.
    pub(super) unused: Vec<String>,
}

/// Finds the arguments that a message states. No value comes from elsewhere.
pub(super) fn fill(
    statement: &Statement<'_>,
    parameters: &[Parameter<'_>],
    named: Option<Span>,
    known: &Known,
) -> Filled {
    let mut filling = Filling {
        statement,
        parameters,
        values: vec![None; parameters.len()],
        taken: Vec::new(),
        used: 0,
        unknown: Vec::new(),
    };
    filling.objects();
    filling.pairs(named);
    let by_name = filling.used;
    filling.topics();
    let by_looks = filling.used - by_name;
    let said = words(statement.head);
    filling.choices(named, &said);
    filling.booleans(&said);
    filling.named_numbers(&said);
    filling.counted(&said, known);
    filling.numbers();
    filling.quoted();
    let took_rest = filling.rest(named, known);
    let unused = unused(&Leftovers {
        statement,
        parameters,
        taken: &filling.taken,
        named,
        known,
        rest: took_rest.then(|| named.map_or(0, |named| named.end)),
    });
    let is_by_name = by_name > 0 && filling.used == by_name;
    let mut filled = filling.finish(took_rest);
    filled.by_looks = by_looks;
    filled.is_by_name = is_by_name;
    filled.unused.extend(unused);
    filled
}

/// Arguments that are being found.
pub(super) struct Filling<'a, 's> {
    pub(super) statement: &'s Statement<'a>,
    pub(super) parameters: &'s [Parameter<'a>],
    /// What each parameter gets.
    values: Vec<Option<Value>>,
    /// The parts of the message that are used up.
    taken: Vec<Span>,
    used: usize,
    /// Names that an object of JSON has and the tool does not.
    unknown: Vec<String>,
}

impl Filling<'_, '_> {
    /// Objects of JSON have arguments by name.
    fn objects(&mut self) {
        for (span, object) in &self.statement.objects {
            let mut is_used = false;
            let mut unknown = Vec::new();
            for (key, value) in object {
                let same = |parameter: &Parameter<'_>| is_same(parameter.name, key);
                if let Some(at) = self.parameters.iter().position(same)
                    && self.is_open(at)
                {
                    self.set(at, fitting(value, &self.parameters[at]));
                    is_used = true;
                } else {
                    unknown.push(key.clone());
                }
            }
            if is_used {
                self.taken.push(*span);
                self.unknown.extend(unknown);
            }
        }
    }

    fn pairs(&mut self, named: Option<Span>) {
        for pair in pairs(self.statement, self.parameters, named) {
            let at = pair.parameter;
            if !self.is_open(at) {
                continue;
            }
            let parameter = &self.parameters[at];
            let value = match pair.said {
                Said::Json(value) => Some(fitting(&value, parameter)),
                Said::Text(span) => typed(self.statement.at(span), parameter),
                Said::Nothing if parameter.shape == Shape::Boolean => Some(Value::Bool(true)),
                Said::Nothing => None,
            };
            if let Some(value) = value {
                self.set(at, value);
                self.taken.push(pair.span);
            }
        }
    }

    /// Values whose looks say what they are, for parameters whose names say what they take.
    fn topics(&mut self) {
        for at in self.in_order() {
            let parameter = &self.parameters[at];
            if !self.is_open(at) || parameter.topic == Topic::Any {
                continue;
            }
            match parameter.shape {
                Shape::Text => {
                    let mut kinds = parameter.topic.kinds().iter();
                    if let Some(span) = kinds.find_map(|kind| self.next(*kind)) {
                        let text = self.statement.at(span).to_owned();
                        self.take(at, span, Value::String(text));
                    }
                }
                Shape::Texts => self.all_of(at, parameter.topic.kinds()),
                _ => {}
            }
        }
    }

    /// Words of which a parameter can be one.
    fn choices(&mut self, named: Option<Span>, said: &[Word]) {
        let head = self.statement.head.to_ascii_lowercase();
        let mut spoken: Option<HashSet<String>> = None;
        for at in self.in_order() {
            let parameter = &self.parameters[at];
            if parameter.choices.is_empty() || parameter.shape != Shape::Text || !self.is_open(at) {
                continue;
            }
            if !parameter.is_required {
                // Such words are said for other reasons, too, unless the parameter is spoken of.
                let spoken = spoken.get_or_insert_with(|| {
                    said.iter().flat_map(|word| terms(&word.text)).collect()
                });
                let mut of_name = parameter.words.iter().flat_map(|word| terms(word));
                if !of_name.any(|term| spoken.contains(&term)) {
                    continue;
                }
            }
            let found = parameter.choices.iter().find_map(|choice| {
                let span = whole_word(&head, &choice.to_ascii_lowercase(), |span| {
                    named.is_some_and(|named| named.meets(span)) || self.is_taken(span)
                })?;
                Some((*choice, span))
            });
            if let Some((choice, span)) = found {
                self.take(at, span, Value::String(choice.to_owned()));
            }
        }
    }

    /// `true`, `yes` and the like next to the name of a parameter.
    fn booleans(&mut self, said: &[Word]) {
        for at in self.in_order() {
            let parameter = &self.parameters[at];
            let length = parameter.words.len();
            if parameter.shape != Shape::Boolean || !self.is_open(at) || length == 0 {
                continue;
            }
            let is_name = |window: &[Word]| {
                window
                    .iter()
                    .zip(&parameter.words)
                    .all(|(word, own)| word.text == *own)
            };
            let Some(begin) = said.windows(length).position(is_name) else {
                continue;
            };
            let before = begin.checked_sub(1).and_then(|before| said.get(before));
            let after = said.get(begin + length..).unwrap_or_default();
            let mut near = after.iter().take(2).chain(before);
            if let Some(answer) = near.find_map(|word| truth(&word.text)) {
                self.set(at, Value::Bool(answer));
            }
        }
    }

    fn quoted(&mut self) {
        let is_text = |parameter: &Parameter<'_>| {
            matches!(parameter.shape, Shape::Text | Shape::Texts) && parameter.choices.is_empty()
        };
        let mut open = self.required(is_text);
        if open.is_empty() {
            // What is in quotes is meant for something: for the only one that can take it.
            let texts = (0..self.parameters.len()).filter(|at| is_text(&self.parameters[*at]));
            let texts: Vec<usize> = texts.collect();
            if let [only] = texts[..]
                && self.is_open(only)
            {
                open.push(only);
            }
        }
        for at in open {
            if self.parameters[at].shape == Shape::Texts {
                self.all_of(at, &[Kind::Quoted]);
            } else if let Some(span) = self.next(Kind::Quoted) {
                let text = self.statement.at(span).to_owned();
                self.take(at, span, Value::String(text));
            }
        }
    }

    /// What is left, if there is one text that is still missing.
    fn rest(&mut self, named: Option<Span>, known: &Known) -> bool {
        let missing = self.required(|_| true);
        let [only] = missing[..] else {
            return false;
        };
        let parameter = &self.parameters[only];
        if !matches!(parameter.shape, Shape::Text | Shape::Texts) || !parameter.choices.is_empty() {
            return false;
        }
        let left = match named {
            Some(named) => after_name(self.statement, named, &self.taken),
            None => after_words(self.statement, known, &self.taken),
        };
        let Some(mut left) = left else {
            return false;
        };
        if parameter.topic != Topic::Any {
            // A sentence is no path and no date; a single word behind the tool's name may be.
            let end = left.trim_end_matches(['?', '!', '.']).len();
            left.truncate(end);
            if named.is_none() || left.is_empty() || left.contains(char::is_whitespace) {
                return false;
            }
        }
        if !self.is_of_topic(parameter.topic, &left) {
            return false;
        }
        let Some(value) = typed(&left, parameter) else {
            return false;
        };
        self.set(only, value);
        true
    }

    /// Whether a text is no path where an address is wanted, and the like.
    fn is_of_topic(&self, topic: Topic, text: &str) -> bool {
        let mut values = self.statement.values.iter();
        topic == Topic::Any
            || !values.any(|value| {
                matches!(value.kind, Kind::Url | Kind::Path)
                    && !topic.kinds().contains(&value.kind)
                    && self.statement.at(value.inner) == text
            })
    }

    fn finish(self, took_rest: bool) -> Filled {
        let missing = self.required(|_| true);
        let is_single = |value: &&Value| value.as_array().is_some_and(|list| list.len() == 1);
        let is_list = |at: &&usize| self.parameters[**at].shape == Shape::Texts;
        let singles = self.values.iter().flatten().filter(is_single).count()
            + missing.iter().filter(is_list).count();
        let named = self.parameters.iter().zip(self.values);
        let arguments = named.filter_map(|(parameter, value)| {
            let name = parameter.name.to_owned();
            value.map(|value| (name, value))
        });
        Filled {
            arguments: arguments.collect(),
            missing,
            used: self.used,
            singles,
            took_rest,
            by_looks: 0,
            is_by_name: false,
            unused: self.unknown,
        }
    }

    /// The parameters, those that are required first.
    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.parameters.len()).collect();
        order.sort_by_key(|at| !self.parameters[*at].is_required);
        order
    }

    /// Required parameters of a kind that have nothing yet.
    pub(super) fn required(&self, is_meant: impl Fn(&Parameter<'_>) -> bool) -> Vec<usize> {
        let open = (0..self.parameters.len()).filter(|at| {
            let parameter = &self.parameters[*at];
            parameter.is_required && self.is_open(*at) && is_meant(parameter)
        });
        open.collect()
    }

    pub(super) fn is_open(&self, at: usize) -> bool {
        self.values.get(at).is_some_and(Option::is_none)
    }

    pub(super) fn is_taken(&self, span: Span) -> bool {
        self.taken.iter().any(|taken| taken.meets(span))
    }

    /// The values of a kind that are not used yet.
    pub(super) fn open(&self, kind: Kind) -> Vec<Span> {
        let values = self.statement.values.iter();
        let open = values.filter(|value| value.kind == kind && !self.is_taken(value.outer));
        open.map(|value| value.inner).collect()
    }

    fn next(&self, kind: Kind) -> Option<Span> {
        self.open(kind).into_iter().next()
    }

    fn all_of(&mut self, at: usize, kinds: &[Kind]) {
        let values = self.statement.values.iter();
        let spans: Vec<Span> = values
            .filter(|value| kinds.contains(&value.kind) && !self.is_taken(value.outer))
            .map(|value| value.inner)
            .collect();
        if spans.is_empty() {
            return;
        }
        let texts = spans.iter().map(|span| self.statement.at(*span).into());
        let list = Value::Array(texts.collect());
        self.used += spans.len() - 1;
        self.set(at, list);
        for span in spans {
            self.use_up(span);
        }
    }

    pub(super) fn take(&mut self, at: usize, span: Span, value: Value) {
        self.set(at, value);
        self.use_up(span);
    }

    /// Takes a part of the message, with the quotes around it.
    fn use_up(&mut self, span: Span) {
        let whole = self
            .statement
            .values
            .iter()
            .find(|value| value.inner == span);
        self.taken.push(whole.map_or(span, |value| value.outer));
    }

    fn set(&mut self, at: usize, value: Value) {
        if let Some(slot) = self.values.get_mut(at) {
            *slot = Some(value);
            self.used += 1;
        }
    }
}

/// Where a text has a word, or several, that nothing is against.
fn whole_word(text: &str, word: &str, is_against: impl Fn(Span) -> bool) -> Option<Span> {
    if word.is_empty() {
        return None;
    }
    let mut places = text.match_indices(word).map(|(start, _)| Span {
        start,
        end: start + word.len(),
    });
    places.find(|span| {
        let before = text.get(..span.start).unwrap_or_default();
        let after = text.get(span.end..).unwrap_or_default();
        !before.ends_with(char::is_alphanumeric)
            && !after.starts_with(char::is_alphanumeric)
            && !is_against(*span)
    })
}
