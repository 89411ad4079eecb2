//! What a message states and nothing takes.

use openclaw_ranking::terms;

use super::parameters::Parameter;
use super::rest::Known;
use super::shapes::Kind;
use super::stated::{Span, Statement};

/// How many such values are told.
const MOST: usize = 8;

/// What is known when all arguments are found.
pub(super) struct Leftovers<'a, 's> {
    pub(super) statement: &'s Statement<'a>,
    pub(super) parameters: &'s [Parameter<'a>],
    /// What was used.
    pub(super) taken: &'s [Span],
    /// Where the tool is named.
    pub(super) named: Option<Span>,
    pub(super) known: &'s Known,
    /// From where on everything was used.
    pub(super) rest: Option<usize>,
}

/// The values that no argument has, in their order.
pub(super) fn unused(leftovers: &Leftovers<'_, '_>) -> Vec<String> {
    let statement = leftovers.statement;
    let is_taken = |span: Span| leftovers.taken.iter().any(|taken| taken.meets(span));
    let is_rest = |span: Span| leftovers.rest.is_some_and(|from| span.start >= from);
    let objects = statement.objects.iter().map(|(span, _)| *span);
    let values = statement.values.iter().filter(|value| {
        // A file or an address is no text, unless the message names what takes it as one.
        let is_place = matches!(value.kind, Kind::Path | Kind::File | Kind::Url);
        let is_text = leftovers.named.is_some() || !is_place;
        !(is_rest(value.outer) && is_text)
    });
    let values = objects
        .filter(|span| !is_rest(*span))
        .chain(values.map(|value| value.outer));
    let mut found: Vec<Span> = values.filter(|span| !is_taken(*span)).take(MOST).collect();
    let is_used = |span: Span| is_rest(span) || is_taken(span);
    for (token, span) in tokens(statement.head) {
        if found.len() >= MOST {
            break;
        }
        if is_stating(token) && !is_used(span) && !leftovers.is_known(token, span) {
            found.push(span);
        }
    }
    found.sort_by_key(|span| span.start);
    found
        .into_iter()
        .map(|span| statement.at(span).to_owned())
        .collect()
}

impl Leftovers<'_, '_> {
    /// Whether a word is a value, or one by which the tool is known.
    fn is_known(&self, token: &str, span: Span) -> bool {
        let objects = self.statement.objects.iter().map(|(span, _)| *span);
        let mut values = objects.chain(self.statement.values.iter().map(|value| value.outer));
        let of_tool = |term: &String| {
            let mut names = self
                .parameters
                .iter()
                .flat_map(|parameter| &parameter.words);
            self.known.name.contains(term)
                || self.known.purpose.contains(term)
                || names.any(|name| name == term)
        };
        self.named.is_some_and(|named| named.meets(span))
            || values.any(|value| value.meets(span))
            || (!token.contains('=') && terms(token).iter().all(of_tool))
    }
}

/// Whether a word states something, though it has not the looks of a value: `d20`, `size=5`, `--all`.
fn is_stating(token: &str) -> bool {
    let is_pair = token.split_once('=').is_some_and(|(key, _)| {
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
        !key.is_empty() && key.chars().all(is_name)
    });
    let is_flag = token
        .strip_prefix("--")
        .is_some_and(|key| key.starts_with(char::is_alphabetic));
    is_pair || is_flag || token.contains(|letter: char| letter.is_ascii_digit())
}

/// The words of a text between spaces.
fn tokens(text: &str) -> impl Iterator<Item = (&str, Span)> {
    let mut at = 0;
    text.split(char::is_whitespace).map(move |token| {
        let start = at;
        at += token.len();
        let token = token.trim_end_matches(['.', ',', ';', ':', '?', '!', ')']);
        let end = start + token.len();
        // Spaces of other scripts are longer.
        at += text
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(0, char::len_utf8);
        (token, Span { start, end })
    })
}
