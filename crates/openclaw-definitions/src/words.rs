//! `KEY=VALUE`, and JSON.
//!
//! Messages name the key at most: values may be credentials.

use openclaw_engine::EngineFailure;
use serde_json::{Map, Value as Json};

use crate::failure::usage;

/// Reads `KEY=VALUE`; the value may be empty and may contain `=`.
pub fn pairs(texts: &[String]) -> Result<Vec<(String, String)>, EngineFailure> {
    texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            pair(text, &['=']).ok_or_else(|| {
                usage(format!(
                    "argument {} is not of the form KEY=VALUE",
                    index + 1
                ))
                .hint("give JSON with `--args '{…}'` where a value has another form")
            })
        })
        .collect()
}

/// Reads what was given with an option such as `--env`.
pub(crate) fn variables(texts: &[String]) -> Result<Map<String, Json>, EngineFailure> {
    named(texts, "--env", &['='])
}

/// Reads what was given with `--header`, in the form of a header, too.
pub(crate) fn headers(texts: &[String]) -> Result<Map<String, Json>, EngineFailure> {
    named(texts, "--header", &['=', ':'])
}

fn named(
    texts: &[String],
    option: &str,
    marks: &[char],
) -> Result<Map<String, Json>, EngineFailure> {
    let mut values = Map::new();
    for text in texts {
        let (name, value) =
            pair(text, marks).ok_or_else(|| usage(format!("`{option}` takes NAME=VALUE")))?;
        if values.contains_key(&name) {
            let message = format!("`{option}` gives {name:?} twice");
            return Err(usage(message));
        }
        values.insert(name, Json::String(value));
    }
    Ok(values)
}

/// Splits at the first mark. A name has no white space around it and is not empty; neither has a
/// value that follows a colon.
fn pair(text: &str, marks: &[char]) -> Option<(String, String)> {
    let at = text.find(marks)?;
    let (name, rest) = text.split_at(at);
    let mut rest = rest.chars();
    let value = match rest.next() {
        Some(':') => rest.as_str().trim(),
        _ => rest.as_str(),
    };
    let name = name.trim();
    (!name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
}

/// Reads a JSON object. `what` is what it is called if it is none.
pub fn object(text: &str, what: &str) -> Result<Map<String, Json>, EngineFailure> {
    match serde_json::from_str(text) {
        Ok(Json::Object(object)) => Ok(object),
        Ok(_) => Err(usage(format!("{what} must be a JSON object"))),
        Err(error) => Err(usage(format!("{what} is not valid JSON: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn message(failure: EngineFailure) -> String {
        failure.message
    }

    #[test]
    fn a_value_may_be_empty_and_may_contain_equals_signs() {
        let read = pairs(&texts(&["a=1", "b=", "c=x=y", "d= z"])).unwrap();
        let expected = [("a", "1"), ("b", ""), ("c", "x=y"), ("d", " z")];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(read, expected);
    }

    #[test]
    fn mistakes_are_told_without_values() {
        for given in ["hunter2hunter2", "=hunter2hunter2"] {
            let message = message(pairs(&texts(&["a=1", given])).unwrap_err());
            assert_eq!(message, "argument 2 is not of the form KEY=VALUE");
        }
        let twice = variables(&texts(&["K=hunter2", "K=hunter3"])).unwrap_err();
        assert_eq!(message(twice), "`--env` gives \"K\" twice");
        let nothing = headers(&texts(&["hunter2"])).unwrap_err();
        assert_eq!(message(nothing), "`--header` takes NAME=VALUE");
    }

    #[test]
    fn headers_may_look_like_headers() {
        let read = headers(&texts(&[
            "Authorization: Bearer a=b:c",
            "X-Key=http://x",
            "X-Empty:",
        ]));
        assert_eq!(
            Json::Object(read.unwrap()),
            json!({ "Authorization": "Bearer a=b:c", "X-Key": "http://x", "X-Empty": "" })
        );
    }

    #[test]
    fn only_objects_are_objects() {
        assert_eq!(object("{\"a\": 1}", "it").unwrap()["a"], 1);
        let told = |text| message(object(text, "the value of --args").unwrap_err());
        assert_eq!(told("[1]"), "the value of --args must be a JSON object");
        assert!(told("{a}").starts_with("the value of --args is not valid JSON"));
    }

    proptest! {
        #[test]
        fn what_is_joined_is_split_again(name in "[^=\\s][^=]{0,20}", value in any::<String>()) {
            let read = pairs(&[format!("{name}={value}")]).unwrap();
            prop_assert_eq!(read, vec![(name.trim().to_owned(), value)]);
        }
    }
}
