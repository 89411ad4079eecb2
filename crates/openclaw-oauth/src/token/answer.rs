//! What an authorization server says about a token, read leniently.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use http::Response;
use openclaw_secrets::Secret;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Value as Json;
use url::form_urlencoded;

use crate::asking::is_form;
use crate::scopes::{self, scope_list};

/// What counts as for ever, in seconds: a hundred years.
const LONGEST_LIFE: u64 = 100 * 366 * 24 * 60 * 60;

/// What an answer says, as far as it is understood (RFC 6749 §5.1). Everything else in it is passed
/// over and not kept.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) access_token: Option<Secret>,
    pub(super) refresh_token: Option<Secret>,
    pub(super) token_type: Option<String>,
    pub(super) lifetime: Option<u64>,
    pub(super) scopes: Option<Vec<String>>,
    pub(super) error: Option<String>,
    pub(super) description: Option<String>,
}

impl Fields {
    /// Reads an answer: a JSON object, or a form, as some old servers have it.
    pub(super) fn read(answer: &Response<Bytes>) -> Option<Self> {
        if is_form(answer) {
            let mut fields = Self::default();
            for (name, value) in form_urlencoded::parse(answer.body()) {
                fields.set(&name, Json::String(value.into_owned()));
            }
            return Some(fields);
        }
        let mut deserializer = serde_json::Deserializer::from_slice(answer.body());
        let fields = deserializer.deserialize_map(FieldsVisitor).ok()?;
        deserializer.end().ok()?;
        Some(fields)
    }

    fn knows(name: &str) -> bool {
        matches!(
            name,
            "access_token"
                | "refresh_token"
                | "token_type"
                | "expires_in"
                | "scope"
                | "error"
                | "error_description"
        )
    }

    /// Notes a field. One that is not what it should be, or empty, counts as absent.
    fn set(&mut self, name: &str, value: Json) {
        match name {
            "access_token" => self.access_token = text(value).map(Secret::new),
            "refresh_token" => self.refresh_token = text(value).map(Secret::new),
            "token_type" => self.token_type = text(value),
            "expires_in" => self.lifetime = lifetime(&value),
            "scope" => self.scopes = granted(value),
            "error" => self.error = text(value),
            "error_description" => self.description = text(value),
            _ => {}
        }
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Fields::default();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            if Fields::knows(&name) {
                fields.set(&name, map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(fields)
    }
}

fn text(value: Json) -> Option<String> {
    match value {
        Json::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// How many seconds a token lives. Of one that would be dead already it is not known how long it
/// lives: the server will say so when it is.
fn lifetime(value: &Json) -> Option<u64> {
    let seconds = match value {
        Json::Number(number) => number.as_f64()?,
        Json::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of a number with a point takes the nearest that there is, and 0 for none"
    )]
    let seconds = seconds as u64;
    (seconds > 0).then_some(seconds.min(LONGEST_LIFE))
}

/// What is allowed: words in a text, or a list of them.
fn granted(value: Json) -> Option<Vec<String>> {
    let scopes = match value {
        Json::String(text) => scope_list(&text),
        Json::Array(list) => {
            let mut found = Vec::new();
            scopes::add(&mut found, list.iter().filter_map(Json::as_str));
            found
        }
        _ => Vec::new(),
    };
    (!scopes.is_empty()).then_some(scopes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(content_type: &str, body: &str) -> Option<Fields> {
        let answer = Response::builder()
            .header("content-type", content_type)
            .body(Bytes::copy_from_slice(body.as_bytes()));
        Fields::read(&answer.unwrap())
    }

    fn read_json(body: &Json) -> Fields {
        read("application/json", &body.to_string()).unwrap()
    }

    #[test]
    fn both_kinds_of_answers_say_the_same() {
        let expected = Fields {
            access_token: Some(Secret::new("a b")),
            refresh_token: Some(Secret::new("r")),
            token_type: Some("bearer".to_owned()),
            lifetime: Some(3600),
            scopes: Some(vec!["x".to_owned(), "y".to_owned()]),
            error: None,
            description: None,
        };
        let json = json!({
            "access_token": "a b",
            "id_token": { "deep": [1, 2, null] },
            "refresh_token": "r",
            "token_type": "bearer",
            "expires_in": 3600,
            "scope": "x y x",
        });
        assert_eq!(read_json(&json), expected);
        let form = "access_token=a+b&refresh_token=r&token_type=bearer&expires_in=3600&scope=x%20y";
        let of_form = read("application/x-www-form-urlencoded", form);
        assert_eq!(of_form, Some(expected));
    }

    #[test]
    fn what_is_empty_or_of_another_kind_is_absent() {
        let nothing = json!({
            "access_token": "", "refresh_token": null, "token_type": 7, "expires_in": [],
            "scope": "", "error": {}, "error_description": false,
        });
        assert_eq!(read_json(&nothing), Fields::default());
        let twice = r#"{"access_token": "one", "access_token": "two"}"#;
        assert_eq!(
            read("", twice).unwrap().access_token,
            Some(Secret::new("two"))
        );
        let list = read_json(&json!({ "scope": ["a", 1, "b"] }));
        assert_eq!(list.scopes, Some(vec!["a".to_owned(), "b".to_owned()]));
        for strange in ["", "[]", "null", "\"a\"", "<html>", "{\"a\":1} x", "{"] {
            assert_eq!(read("application/json", strange), None, "{strange}");
        }
        let deep = format!("{{\"a\":{}", "[".repeat(100_000));
        assert_eq!(read("application/json", &deep), None);
    }

    #[test]
    fn a_life_is_a_number_however_it_is_written() {
        for (written, expected) in [
            (json!(3600), Some(3600)),
            (json!("3600"), Some(3600)),
            (json!(3599.9), Some(3599)),
            (json!(" 60 "), Some(60)),
            (json!(0), None),
            (json!(-1), None),
            (json!("0"), None),
            (json!(u64::MAX), Some(LONGEST_LIFE)),
            (json!(1e300), Some(LONGEST_LIFE)),
            (json!("inf"), Some(LONGEST_LIFE)),
            (json!("nan"), None),
            (json!("soon"), None),
            (json!(null), None),
            (json!(true), None),
        ] {
            assert_eq!(lifetime(&written), expected, "{written}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_answered_is_read(body in any::<Vec<u8>>(), is_a_form in any::<bool>()) {
            let kind = if is_a_form { "application/x-www-form-urlencoded" } else { "" };
            let answer = Response::builder().header("content-type", kind).body(Bytes::from(body));
            let _ = Fields::read(&answer.unwrap());
        }
    }
}
