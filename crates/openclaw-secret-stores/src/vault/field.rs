//! Which field is the secret.

use openclaw_content::shown_line;
use serde_json::Value as Json;

use super::Fields;
use crate::error::SecretError;
use crate::surroundings::Surroundings;

/// The field that is meant where there are several and none is named.
const USUAL: &str = "value";
/// How many fields an error names.
const NAMED: usize = 20;
/// How much of their names an error shows.
const SHOWN: usize = 400;

/// The field that is named, else the only one, else `value`.
pub(super) fn choose<'f>(
    surroundings: &Surroundings,
    fields: &'f Fields,
    wanted: Option<&str>,
) -> Result<&'f Json, SecretError> {
    let Some(fields) = fields.as_object() else {
        return Err(SecretError::unusable("it has no fields"));
    };
    let names = || {
        let mut list: Vec<&str> = fields.keys().take(NAMED).map(String::as_str).collect();
        if fields.len() > NAMED {
            list.push("…");
        }
        shown_line(&surroundings.redactor.redact(&list.join(", ")), SHOWN)
    };
    let has = || match fields.len() {
        0 => "it has no fields".to_owned(),
        1 => format!("it has one: {}", names()),
        count => format!("it has {count}: {}", names()),
    };
    match wanted {
        Some(name) => fields.get(name).ok_or_else(|| {
            let name = shown_line(name, SHOWN);
            SecretError::missing(format!("it has no field `{name}`; {}", has()))
        }),
        None if fields.is_empty() => Err(SecretError::missing(has())),
        None if fields.len() == 1 => fields.values().next().ok_or_else(|| unclear(&has())),
        None => fields.get(USUAL).ok_or_else(|| unclear(&has())),
    }
}

fn unclear(has: &str) -> SecretError {
    let reason = format!("it is not clear which field is meant; {has}");
    SecretError::missing(reason).hint("name one behind `#` at the end of the reference")
}
