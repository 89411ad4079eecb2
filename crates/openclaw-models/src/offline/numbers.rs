//! Which number of a message is which argument.

use std::collections::HashSet;

use openclaw_ranking::{Word, is_filler, is_related, stem, terms, words};

use super::fill::Filling;
use super::parameters::{Parameter, Shape};
use super::rest::Known;
use super::shapes::Kind;
use super::stated::{Span, Statement};
use super::typed::typed;

/// Names of parameters that say how many there are of what the tool is about.
const COUNTS: [&str; 9] = [
    "amount", "count", "limit", "max", "n", "num", "number", "quantity", "times",
];
/// How much of a description is looked at, in bytes.
const LOOKED_AT: usize = 256;

impl Filling<'_, '_> {
    /// Numbers next to the name of a parameter: `6 sides`, `a limit of 5`.
    pub(super) fn named_numbers(&mut self, said: &[Word]) {
        for at in self.in_order() {
            let parameter = &self.parameters[at];
            if !is_numeric(parameter.shape) || !self.is_open(at) {
                continue;
            }
            let own: HashSet<String> = parameter
                .words
                .iter()
                .flat_map(|word| terms(word))
                .collect();
            let is_own = |word: &Word| terms(&word.text).iter().any(|term| own.contains(term));
            let is_named = |span: Span| {
                let after = said.partition_point(|word| word.start < span.end);
                let before = said.get(..said.partition_point(|word| word.end <= span.start));
                let mut before = before.unwrap_or_default().iter().rev().take(3);
                let before = before.find(|word| !is_filler(&word.text));
                said.get(after).is_some_and(is_own) || before.is_some_and(is_own)
            };
            let numbers = self.open(Kind::Number);
            for span in numbers.into_iter().filter(|span| is_named(*span)) {
                if let Some(value) = typed(self.statement.at(span), parameter) {
                    self.take(at, span, value);
                    break;
                }
            }
        }
    }

    /// Numbers of what a parameter counts: `5 dice`, `the first ten lines`.
    pub(super) fn counted(&mut self, said: &[Word], known: &Known) {
        for at in self.in_order() {
            let parameter = &self.parameters[at];
            if !is_numeric(parameter.shape) || !self.is_open(at) {
                continue;
            }
            let counting = Counting::of(parameter, known);
            let numbers = self.open(Kind::Number).into_iter();
            let in_words = said.iter().filter(|word| number_word(&word.text).is_some());
            let in_words = in_words.map(|word| Span {
                start: word.start,
                end: word.end,
            });
            let mut numbers: Vec<Span> = numbers
                .chain(in_words.filter(|span| !self.is_within(*span)))
                .collect();
            numbers.sort_by_key(|span| span.start);
            for span in numbers {
                let text = self.statement.at(span);
                let text = number_word(text).unwrap_or(text);
                if counting.is_of(self.statement, said, span)
                    && let Some(value) = typed(text, parameter)
                {
                    self.take(at, span, value);
                    break;
                }
            }
        }
    }

    /// Whether a part of the message belongs to a value.
    fn is_within(&self, span: Span) -> bool {
        let mut values = self.statement.values.iter();
        self.is_taken(span) || values.any(|value| value.outer.meets(span))
    }

    /// Numbers go to the required parameters in their order.
    pub(super) fn numbers(&mut self) {
        for at in self.required(|parameter| is_numeric(parameter.shape)) {
            for span in self.open(Kind::Number) {
                if let Some(value) = typed(self.statement.at(span), &self.parameters[at]) {
                    self.take(at, span, value);
                    break;
                }
            }
        }
    }
}

fn is_numeric(shape: Shape) -> bool {
    matches!(shape, Shape::Integer | Shape::Number)
}

/// What a parameter counts.
#[derive(Debug)]
struct Counting {
    /// The words of its name.
    own: HashSet<String>,
    /// What it says that it counts: `dice` in `How many dice are rolled`.
    things: HashSet<String>,
    /// What it says otherwise.
    told: HashSet<String>,
}

impl Counting {
    fn of(parameter: &Parameter<'_>, known: &Known) -> Self {
        let end = parameter.description.floor_char_boundary(LOOKED_AT);
        let description = parameter.description.get(..end).unwrap_or_default();
        let mut things: HashSet<String> = HashSet::new();
        let of_description = words(description);
        for three in of_description.windows(3) {
            if let [one, other, thing] = three
                && matches!(
                    (one.text.as_str(), other.text.as_str()),
                    ("how", "many") | ("number", "of")
                )
            {
                things.insert(stem(&thing.text).into_owned());
            }
        }
        let counts = |word: &String| COUNTS.contains(&word.as_str());
        if parameter.words.iter().any(counts) {
            things.extend(known.name.iter().cloned());
        }
        Self {
            own: parameter
                .words
                .iter()
                .flat_map(|word| terms(word))
                .collect(),
            things,
            told: terms(description).into_iter().collect(),
        }
    }

    /// Whether a number is of what is counted: `5 dice`, `the first 10 lines`.
    fn is_of(&self, statement: &Statement<'_>, said: &[Word], number: Span) -> bool {
        let after = said.get(said.partition_point(|word| word.start < number.end));
        let before = said.partition_point(|word| word.end <= number.start);
        let before = before.checked_sub(1).and_then(|before| said.get(before));
        let is_near = |start: usize, end: usize| {
            let between = statement.at(Span { start, end });
            between.chars().all(char::is_whitespace)
        };
        let after = after.filter(|word| is_near(number.end, word.start));
        let before = before.filter(|word| is_near(word.end, number.start));
        let Some(thing) = after.map(|word| stem(&word.text)) else {
            return false;
        };
        let before = before.map(|word| stem(&word.text));
        self.things.contains(thing.as_ref())
            || before.is_some_and(|before| {
                let stands = self.own.iter().any(|own| is_related(&before, own));
                stands
                    || (self.told.contains(before.as_ref()) && self.told.contains(thing.as_ref()))
            })
    }
}

/// The digits of a number that is written as a word. `One` is left out: it is said of everything.
fn number_word(word: &str) -> Option<&'static str> {
    const WORDS: [(&str, &str); 12] = [
        ("two", "2"),
        ("three", "3"),
        ("four", "4"),
        ("five", "5"),
        ("six", "6"),
        ("seven", "7"),
        ("eight", "8"),
        ("nine", "9"),
        ("ten", "10"),
        ("eleven", "11"),
        ("twelve", "12"),
        ("twenty", "20"),
    ];
    let mut words = WORDS.iter();
    let found = words.find(|(it, _)| it.eq_ignore_ascii_case(word));
    found.map(|(_, digits)| *digits)
}
