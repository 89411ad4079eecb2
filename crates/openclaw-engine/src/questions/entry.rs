//! What a person enters into a field of a form: read from a line of text, or checked as a value.

use std::fmt;

use serde_json::{Number, Value};

use super::format::{Format, is_in_format};
use super::{FieldKind, FieldOption, FormField};

/// How long a text may be that is entered into a field, in characters.
const LONGEST: usize = 100_000;

/// Why an entry can't be taken; a sentence without its end, for the person who made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(String);

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

fn refused<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal(reason.into()))
}

impl FormField {
    /// Reads what was typed. An empty line stands for the default, or leaves out what may be left out.
    ///
    /// Options are named by their number in the list, by what people see, or by their value, in this
    /// order; several are separated by commas.
    pub fn read(&self, typed: &str) -> Result<Option<Value>, Refusal> {
        let typed = typed.trim();
        if typed.is_empty() {
            return match self.usable_default() {
                Some(default) => Ok(Some(default.clone())),
                None if self.required => refused("it has to be filled in"),
                None => Ok(None),
            };
        }
        let value = match &self.kind {
            FieldKind::Text { .. } => Value::from(typed),
            FieldKind::Number { whole, .. } => number(typed, *whole)?,
            FieldKind::YesOrNo => Value::from(yes_or_no(typed)?),
            FieldKind::One { options } => Value::from(chosen(options, typed)?),
            FieldKind::Some { options, .. } => {
                let words = typed.split(',').map(str::trim);
                let words = words.filter(|word| !word.is_empty());
                let mut values: Vec<Value> = Vec::new();
                for word in words {
                    let value = Value::from(chosen(options, word)?);
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                Value::from(values)
            }
        };
        self.check(&value)?;
        Ok(Some(value))
    }

    /// Checks a value that was entered, wherever that was.
    pub fn check(&self, value: &Value) -> Result<(), Refusal> {
        match (&self.kind, value) {
            (
                FieldKind::Text {
                    least,
                    most,
                    format,
                },
                Value::String(text),
            ) => check_text(text, *least, *most, format.as_deref()),
            (FieldKind::Number { whole, least, most }, Value::Number(number)) => {
                check_number(number, *whole, *least, *most)
            }
            (FieldKind::YesOrNo, Value::Bool(_)) => Ok(()),
            (FieldKind::One { options }, Value::String(value)) => check_option(options, value),
            (
                FieldKind::Some {
                    options,
                    least,
                    most,
                },
                Value::Array(values),
            ) => {
                for value in values {
                    match value {
                        Value::String(value) => check_option(options, value)?,
                        _ => return refused("it takes only what can be chosen"),
                    }
                }
                check_count(values.len() as u64, *least, *most)
            }
            (kind, _) => refused(format!("it takes {}", kind.noun())),
        }
    }

    /// The default, if the field takes it: servers may send anything.
    pub fn usable_default(&self) -> Option<&Value> {
        let default = self.default.as_ref()?;
        self.check(default).is_ok().then_some(default)
    }
}

impl FieldKind {
    /// What it takes, in words.
    fn noun(&self) -> &'static str {
        match self {
            Self::Text { .. } => "a text",
            Self::Number { whole: true, .. } => "a whole number",
            Self::Number { whole: false, .. } => "a number",
            Self::YesOrNo => "yes or no",
            Self::One { .. } => "one of what can be chosen",
            Self::Some { .. } => "some of what can be chosen",
        }
    }
}

fn number(typed: &str, whole: bool) -> Result<Value, Refusal> {
    // Digits stay what they are for as long as they fit, so that no large number is rounded.
    if let Ok(number) = typed.parse::<i64>() {
        return Ok(Value::from(number));
    }
    if let Ok(number) = typed.parse::<u64>() {
        return Ok(Value::from(number));
    }
    if whole {
        return refused("it takes a whole number");
    }
    let number = typed.parse::<f64>().ok().and_then(Number::from_f64);
    match number {
        Some(number) => Ok(Value::from(number)),
        None => refused("it takes a number"),
    }
}

fn yes_or_no(typed: &str) -> Result<bool, Refusal> {
    match typed.to_lowercase().as_str() {
        "y" | "yes" | "true" => Ok(true),
        "n" | "no" | "false" => Ok(false),
        _ => refused("it takes yes or no"),
    }
}

fn chosen(options: &[FieldOption], typed: &str) -> Result<String, Refusal> {
    let by_number = typed
        .parse::<usize>()
        .ok()
        .and_then(|number| options.get(number.checked_sub(1)?));
    let by_title = || {
        let lower = typed.to_lowercase();
        let is_meant = |option: &&FieldOption| option.title.to_lowercase() == lower;
        options.iter().find(is_meant)
    };
    let by_value = || options.iter().find(|option| option.value == typed);
    match by_number.or_else(by_title).or_else(by_value) {
        Some(option) => Ok(option.value.clone()),
        None => refused(format!(
            "it takes only what can be chosen, by a number from 1 to {}",
            options.len()
        )),
    }
}

fn check_text(
    text: &str,
    least: Option<u64>,
    most: Option<u64>,
    format: Option<&str>,
) -> Result<(), Refusal> {
    let length = text.chars().take(LONGEST + 1).count() as u64;
    if let Some(least) = least.filter(|least| length < *least) {
        return refused(format!("it needs {} at least", characters(least)));
    }
    let most = most.unwrap_or(LONGEST as u64).min(LONGEST as u64);
    if length > most {
        return refused(format!("it takes {} at most", characters(most)));
    }
    let Some(format) = format.and_then(Format::named) else {
        return Ok(());
    };
    if is_in_format(text, format) {
        Ok(())
    } else {
        refused(format!("it takes {}", format.example()))
    }
}

fn characters(number: u64) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} character{plural}")
}

fn check_number(
    number: &Number,
    whole: bool,
    least: Option<f64>,
    most: Option<f64>,
) -> Result<(), Refusal> {
    let Some(value) = number.as_f64() else {
        return refused("it takes a number");
    };
    // JSON has one kind of numbers: 3.0 is whole.
    if whole && value.fract() != 0.0 {
        return refused("it takes a whole number");
    }
    if let Some(least) = least.filter(|least| value < *least) {
        return refused(format!("it takes {least} at least"));
    }
    if let Some(most) = most.filter(|most| value > *most) {
        return refused(format!("it takes {most} at most"));
    }
    Ok(())
}

fn check_option(options: &[FieldOption], value: &str) -> Result<(), Refusal> {
    if options.iter().any(|option| option.value == value) {
        Ok(())
    } else {
        refused("it takes only what can be chosen")
    }
}

fn check_count(number: u64, least: Option<u64>, most: Option<u64>) -> Result<(), Refusal> {
    if let Some(least) = least.filter(|least| number < *least) {
        return refused(format!("at least {least} have to be chosen"));
    }
    if let Some(most) = most.filter(|most| number > *most) {
        return refused(format!("at most {most} can be chosen"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
