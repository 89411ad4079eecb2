//! What a prompt is filled in with.

use openclaw_content::shown_line;
use openclaw_engine::{EngineFailure, PromptArgumentReport};
use serde_json::{Map, Value};

use crate::words::{quoted, words};

/// A prompt that is to be filled in.
#[derive(Clone, Copy, Debug)]
pub struct Filling<'a> {
    /// How it was named, behind the slash.
    pub written: &'a str,
    /// What it takes.
    pub arguments: &'a [PromptArgumentReport],
}

/// What a prompt is filled in with by what was typed behind it: `key=value` for arguments that are
/// named, and other words for those that are left, in their order; the last takes all that remain.
pub fn fill(filling: Filling<'_>, rest: &str) -> Result<Map<String, Value>, EngineFailure> {
    let mut filled: Map<String, Value> = Map::new();
    let mut others = Vec::new();
    for word in words(rest) {
        let named = word.text.split_once('=').filter(|(key, _)| {
            let mut arguments = filling.arguments.iter();
            arguments.any(|argument| argument.name == *key)
        });
        match named {
            Some((key, value)) => {
                filled.insert(key.to_owned(), Value::String(value.to_owned()));
            }
            None => others.push(word.text),
        }
    }
    let left: Vec<&str> = filling
        .arguments
        .iter()
        .map(|argument| argument.name.as_str())
        .filter(|name| !filled.contains_key(*name))
        .collect();
    if left.is_empty() && !others.is_empty() {
        let what = if filling.arguments.is_empty() {
            "the prompt takes no arguments".to_owned()
        } else {
            format!(
                "there is no argument for `{}`",
                shown_line(&others.join(" "), 200)
            )
        };
        return Err(EngineFailure::asker("prompt-arguments", what).hint(usage(filling)));
    }
    let mut others = others.into_iter();
    for (place, name) in left.iter().enumerate() {
        let value = if place + 1 == left.len() {
            let rest: Vec<String> = others.by_ref().collect();
            (!rest.is_empty()).then(|| rest.join(" "))
        } else {
            others.next()
        };
        if let Some(value) = value {
            filled.insert((*name).to_owned(), Value::String(value));
        }
    }
    let missing: Vec<String> = filling
        .arguments
        .iter()
        .filter(|argument| argument.required && !filled.contains_key(&argument.name))
        .map(|argument| shown_line(&argument.name, 100))
        .collect();
    if missing.is_empty() {
        return Ok(filled);
    }
    let message = format!("the prompt needs more: {}", missing.join(", "));
    Err(EngineFailure::asker("prompt-arguments", message).hint(usage(filling)))
}

/// How the prompt is written with its arguments.
fn usage(filling: Filling<'_>) -> String {
    let mut text = format!("write `/{}", filling.written);
    for argument in filling.arguments {
        let name = quoted(&shown_line(&argument.name, 100));
        let (before, behind) = if argument.required {
            ("", "")
        } else {
            ("[", "]")
        };
        text.push_str(&format!(" {before}{name}=…{behind}"));
    }
    shown_line(&(text + "`"), 1_000)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments() -> Vec<PromptArgumentReport> {
        let argument = |name: &str, required| PromptArgumentReport {
            name: name.to_owned(),
            description: None,
            required,
        };
        vec![argument("city", true), argument("state", false)]
    }

    fn filled(rest: &str) -> Result<Value, String> {
        let arguments = arguments();
        let filling = Filling {
            written: "fake:trip",
            arguments: &arguments,
        };
        fill(filling, rest)
            .map(Value::Object)
            .map_err(|failure| format!("{}; {}", failure.message, failure.hint.unwrap()))
    }

    #[test]
    fn arguments_are_named_or_stand_in_their_order() {
        let both = json!({ "city": "New York", "state": "NY" });
        for rest in [
            "\"New York\" NY",
            "city='New York' state=NY",
            "state=NY New York",
            "state=NY city=\"New York\"",
        ] {
            assert_eq!(filled(rest).unwrap(), both, "{rest}");
        }
        assert_eq!(filled("Paris").unwrap(), json!({ "city": "Paris" }));
        assert_eq!(filled("a=b").unwrap(), json!({ "city": "a=b" }));
    }

    #[test]
    fn what_is_missing_or_too_much_is_said() {
        insta::assert_snapshot!(filled("").unwrap_err(), @"the prompt needs more: city; write `/fake:trip city=… [state=…]`");
        insta::assert_snapshot!(filled("state=NY").unwrap_err(), @"the prompt needs more: city; write `/fake:trip city=… [state=…]`");
        insta::assert_snapshot!(filled("city=a state=b c").unwrap_err(), @"there is no argument for `c`; write `/fake:trip city=… [state=…]`");
        let filling = Filling {
            written: "fake:plain",
            arguments: &[],
        };
        assert!(fill(filling, "x").is_err() && fill(filling, " ").is_ok());
    }
}
