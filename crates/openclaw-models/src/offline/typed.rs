//! What a word means for a parameter.

use serde_json::Value;

use super::parameters::{Parameter, Shape};

/// Whether two spellings of a name are of the same one.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let plain = |name: &str| {
        let letters = name.chars().filter(|letter| !matches!(letter, '_' | '-'));
        letters.flat_map(char::to_lowercase).collect::<String>()
    };
    one == other || plain(one) == plain(other)
}

/// A value of JSON, as far as it fits better in another way.
pub(super) fn fitting(value: &Value, parameter: &Parameter<'_>) -> Value {
    match value {
        Value::String(text) if parameter.shape != Shape::Text => typed(text, parameter),
        _ => None,
    }
    .unwrap_or_else(|| value.clone())
}

/// What a text means for a parameter, if it means anything.
pub(super) fn typed(text: &str, parameter: &Parameter<'_>) -> Option<Value> {
    if !parameter.choices.is_empty() {
        let mut choices = parameter.choices.iter();
        let choice = choices.find(|choice| choice.eq_ignore_ascii_case(text.trim()))?;
        return Some(Value::String((*choice).to_owned()));
    }
    match parameter.shape {
        Shape::Text => Some(Value::String(text.to_owned())),
        Shape::Integer => integer(&text.replace(',', "")),
        Shape::Number => {
            let plain = text.replace(',', "");
            integer(&plain).or_else(|| {
                let number: f64 = plain.parse().ok()?;
                serde_json::Number::from_f64(number).map(Value::Number)
            })
        }
        Shape::Boolean => truth(&text.trim().to_lowercase()).map(Value::Bool),
        Shape::Texts => {
            let items = text
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty());
            let items: Vec<Value> = items.map(Value::from).collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        Shape::Other => {
            let value = serde_json::from_str(text).ok();
            value.filter(|value: &Value| !value.is_null())
        }
    }
}

fn integer(text: &str) -> Option<Value> {
    let signed = text.parse::<i64>().ok().map(Value::from);
    signed.or_else(|| text.parse::<u64>().ok().map(Value::from))
}

/// What a word says that means yes or no.
pub(super) fn truth(word: &str) -> Option<bool> {
    match word {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}
