//! One text, read as one of the types that it may have. Errors say what was expected.

use openclaw_content::shown_line;
use serde_json::{Number, Value};

use super::kinds::{Alternative, Kind, Schemas};

/// How many choices are listed.
const CHOICES: usize = 10;
/// How much of each, in characters.
const CHOICE: usize = 40;

/// A text as a value of the first type that fits; text comes last.
pub(super) fn single(
    schemas: Schemas<'_>,
    alternatives: &[Alternative<'_>],
    text: &str,
) -> Result<Value, String> {
    let is_kind = |kind| alternatives.iter().any(|it| it.kind == kind);
    // Everything is a list with one item: beside other types only what looks like a list is one.
    let is_list = |it: &Alternative<'_>| matches!(it.kind, Kind::Array | Kind::Null);
    let takes_commas = alternatives.iter().all(is_list);
    // `007` may be a number, but where it may be a text as well, it is one.
    let takes_numbers = !is_kind(Kind::Text) || json(text).is_some();
    for alternative in alternatives {
        let value = match alternative.kind {
            Kind::Any => Some(json_or_text(text)),
            Kind::Choice => choice(alternative, text),
            Kind::Null => (text == "null").then_some(Value::Null),
            Kind::Boolean => boolean(text),
            Kind::Integer if takes_numbers => integer(text),
            Kind::Number if takes_numbers => number(text),
            Kind::Object => json(text).filter(Value::is_object),
            Kind::Array if text.trim_start().starts_with('[') => json(text).filter(Value::is_array),
            Kind::Array if takes_commas => Some(Value::Array(list(schemas, alternative, text)?)),
            Kind::Integer | Kind::Number | Kind::Text | Kind::Array => None,
        };
        if let Some(value) = value {
            return Ok(value);
        }
    }
    if is_kind(Kind::Text) {
        return Ok(Value::String(text.to_owned()));
    }
    Err(expected(alternatives, text))
}

/// A text as one item of a list.
pub(super) fn item(
    schemas: Schemas<'_>,
    array: &Alternative<'_>,
    text: &str,
) -> Result<Value, String> {
    single(schemas, &items(schemas, array), text)
}

/// A list in one word: items between commas, or a single one where items are lists or objects.
fn list(schemas: Schemas<'_>, array: &Alternative<'_>, text: &str) -> Result<Vec<Value>, String> {
    let items = items(schemas, array);
    let is_composed = |it: &Alternative<'_>| matches!(it.kind, Kind::Array | Kind::Object);
    if items.iter().any(is_composed) {
        // Lists of lists must be JSON: nobody knows which of them a comma belongs to.
        return match json(text) {
            Some(value @ Value::Object(_)) => Ok(vec![value]),
            _ => Err(with_json_problem("a JSON array".to_owned(), text)),
        };
    }
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let pieces = text.split(',').enumerate();
    let values = pieces.map(|(place, piece)| {
        single(schemas, &items, piece.trim())
            .map_err(|expected| format!("{expected} as item {} of a list", place + 1))
    });
    values.collect()
}

fn items<'a>(schemas: Schemas<'a>, array: &Alternative<'a>) -> Vec<Alternative<'a>> {
    let items = array.schema.and_then(|schema| schema.get("items"));
    schemas.alternatives(items.filter(|items| items.is_object()))
}

fn boolean(text: &str) -> Option<Value> {
    let text = text.trim();
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    match (is("true"), is("false")) {
        (true, _) => Some(Value::Bool(true)),
        (_, true) => Some(Value::Bool(false)),
        _ => None,
    }
}

/// A whole number, `2.0` and `1e3` included, as long as no digit of it is lost.
fn integer(text: &str) -> Option<Value> {
    /// Up to here every whole number has a fraction of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    whole(text).or_else(|| {
        let value = fraction(text)?;
        let is_exact = value.fract() == 0.0 && value.abs() <= EXACT;
        let digits = is_exact.then(|| format!("{value:.0}"))?;
        whole(&digits)
    })
}

fn number(text: &str) -> Option<Value> {
    whole(text).or_else(|| Number::from_f64(fraction(text)?).map(Value::Number))
}

fn whole(text: &str) -> Option<Value> {
    let text = text.trim();
    let signed = text.parse::<i64>().ok().map(Value::from);
    signed.or_else(|| text.parse::<u64>().ok().map(Value::from))
}

fn fraction(text: &str) -> Option<f64> {
    let text = text.trim();
    // Not `inf` and `nan`, which are no numbers in JSON.
    let is_digits = |byte: u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let value: f64 = text.bytes().all(is_digits).then(|| text.parse().ok())??;
    value.is_finite().then_some(value)
}

fn json(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

fn json_or_text(text: &str) -> Value {
    let is_digits = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-'));
    // A number that is too long would lose digits; it is rather the name of something.
    let is_long = is_digits && whole(text).is_none();
    let value = if is_long { None } else { json(text) };
    value.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// One of the listed values: text as it is written, all else as JSON.
fn choice(alternative: &Alternative<'_>, text: &str) -> Option<Value> {
    let read = json(text);
    let is_meant = |value: &&Value| match value {
        Value::String(value) => value == text,
        other => read.as_ref() == Some(*other),
    };
    choices(alternative).find(is_meant).cloned()
}

fn choices<'a>(alternative: &Alternative<'a>) -> impl Iterator<Item = &'a Value> {
    let schema = alternative.schema;
    let listed = schema.and_then(|schema| schema.get("enum")?.as_array());
    let only = schema.and_then(|schema| schema.get("const"));
    listed.into_iter().flatten().chain(only)
}

/// What was expected, for an error.
fn expected(alternatives: &[Alternative<'_>], text: &str) -> String {
    let mut found: Vec<String> = Vec::new();
    for alternative in alternatives.iter().take(CHOICES) {
        let name = match alternative.kind {
            Kind::Any | Kind::Text => "text".to_owned(),
            Kind::Choice => listed(alternative),
            Kind::Null => "null".to_owned(),
            Kind::Boolean => "true or false".to_owned(),
            Kind::Integer => match fraction(text) {
                Some(value) if value.fract() == 0.0 => "an integer of at most 64 bits".to_owned(),
                _ => "an integer".to_owned(),
            },
            Kind::Number => "a number".to_owned(),
            Kind::Array => "a JSON array".to_owned(),
            Kind::Object => "a JSON object".to_owned(),
        };
        if !found.contains(&name) {
            found.push(name);
        }
    }
    let composed = |it: &Alternative<'_>| matches!(it.kind, Kind::Array | Kind::Object);
    let found = found.join(" or ");
    if alternatives.iter().any(composed) {
        with_json_problem(found, text)
    } else {
        found
    }
}

fn listed(alternative: &Alternative<'_>) -> String {
    let mut all = choices(alternative);
    let shown = |value: &Value| match value {
        Value::String(text) => format!("`{}`", shown_line(text, CHOICE)),
        other => format!("`{}`", shown_line(&other.to_string(), CHOICE)),
    };
    let first: Vec<_> = all.by_ref().take(CHOICES).map(shown).collect();
    let first = first.join(", ");
    match all.count() {
        0 => format!("one of {first}"),
        more => format!("one of {first} and {more} more"),
    }
}

/// Adds why a text is no JSON, where it looks as if it should be.
fn with_json_problem(expected: String, text: &str) -> String {
    if !text.trim_start().starts_with(['[', '{']) {
        return expected;
    }
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => expected,
        Err(error) => format!("{expected} ({error})"),
    }
}
