//! What a tool takes, by its schema.

use openclaw_ranking::words;
use serde_json::{Map, Value};

use super::shapes::Kind;

/// How many parameters count.
const MOST: usize = 256;

/// What kind of value a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Integer,
    Number,
    Boolean,
    /// A list of texts.
    Texts,
    /// Anything else: only what is written as JSON fits.
    Other,
}

/// What the text of a parameter is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Any,
    Url,
    Path,
    Zone,
    Moment,
    Time,
}

impl Topic {
    /// The values that are about this, the best first.
    pub(super) fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Any => &[],
            Self::Url => &[Kind::Url],
            Self::Path => &[Kind::Path, Kind::File],
            Self::Zone => &[Kind::Zone],
            Self::Moment => &[Kind::Moment],
            Self::Time => &[Kind::Time, Kind::Moment],
        }
    }
}

/// A parameter of a tool.
#[derive(Clone, Debug)]
pub(super) struct Parameter<'a> {
    pub(super) name: &'a str,
    /// The words of its name.
    pub(super) words: Vec<String>,
    pub(super) shape: Shape,
    pub(super) topic: Topic,
    pub(super) is_required: bool,
    /// What it can be, if that is given.
    pub(super) choices: Vec<&'a str>,
    pub(super) description: &'a str,
}

impl<'a> Parameter<'a> {
    /// The parameters of a tool, in the order of its schema.
    pub(super) fn all(schema: &'a Map<String, Value>) -> Vec<Self> {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| {
            let mut required = required.into_iter().flatten().filter_map(Value::as_str);
            required.any(|it| it == name)
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties.into_iter().flatten();
        let mut all: Vec<Self> = properties
            .take(MOST)
            .map(|(name, property)| Self::read(name, property, is_required(name)))
            .collect();
        // What is required and not described has to be stated all the same.
        for name in required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .take(MOST)
        {
            if all.iter().all(|parameter| parameter.name != name) {
                all.push(Self::read(name, &Value::Null, true));
            }
        }
        all
    }

    fn read(name: &'a str, property: &'a Value, is_required: bool) -> Self {
        let property = present(property);
        let words: Vec<String> = words(name).into_iter().map(|word| word.text).collect();
        let choices = property.get("enum").and_then(Value::as_array);
        let choices: Vec<&str> = choices
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let format = property
            .get("format")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let description = property.get("description").and_then(Value::as_str);
        Self {
            name,
            shape: shape(property),
            topic: if choices.is_empty() {
                topic(&words, format)
            } else {
                Topic::Any
            },
            words,
            is_required,
            choices,
            description: description.unwrap_or_default(),
        }
    }

    /// What its type is called.
    pub(super) fn type_name(&self) -> &'static str {
        match self.shape {
            Shape::Text => "text",
            Shape::Integer => "integer",
            Shape::Number => "number",
            Shape::Boolean => "true or false",
            Shape::Texts => "list of texts",
            Shape::Other => "JSON",
        }
    }
}

/// What a property is if it is not null.
fn present(property: &Value) -> &Value {
    for key in ["anyOf", "oneOf"] {
        let Some(choices) = property.get(key).and_then(Value::as_array) else {
            continue;
        };
        let is_null = |choice: &&Value| choice.get("type").and_then(Value::as_str) == Some("null");
        let mut others = choices.iter().filter(|choice| !is_null(choice));
        if let (Some(only), None) = (others.next(), others.next()) {
            return only;
        }
    }
    property
}

fn shape(property: &Value) -> Shape {
    let kind = match property.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.find(|kind| *kind != "null").unwrap_or_default()
        }
        Some(_) => return Shape::Other,
        None if ["anyOf", "oneOf", "allOf", "$ref", "properties", "items"]
            .iter()
            .any(|key| property.get(key).is_some()) =>
        {
            return Shape::Other;
        }
        None => "string",
    };
    match kind {
        "string" => Shape::Text,
        "integer" => Shape::Integer,
        "number" => Shape::Number,
        "boolean" => Shape::Boolean,
        "array" => {
            let items = property.get("items").and_then(|items| items.get("type"));
            match items.and_then(Value::as_str) {
                Some("string") => Shape::Texts,
                _ => Shape::Other,
            }
        }
        _ => Shape::Other,
    }
}

fn topic(words: &[String], format: &str) -> Topic {
    match format {
        "uri" | "url" | "uri-reference" | "iri" => return Topic::Url,
        "date" | "date-time" => return Topic::Moment,
        "time" => return Topic::Time,
        _ => {}
    }
    let has = |some: &[&str]| words.iter().any(|word| some.contains(&word.as_str()));
    if has(&[
        "content",
        "contents",
        "text",
        "data",
        "description",
        "query",
        "pattern",
    ]) {
        Topic::Any
    } else if has(&["url", "urls", "uri", "uris"]) {
        Topic::Url
    } else if has(&["timezone", "zone", "tz"]) {
        Topic::Zone
    } else if has(&[
        "date",
        "day",
        "since",
        "until",
        "deadline",
        "due",
        "timestamp",
    ]) {
        Topic::Moment
    } else if has(&["time"]) {
        Topic::Time
    } else if has(&[
        "path",
        "paths",
        "file",
        "files",
        "filename",
        "filepath",
        "dir",
        "directory",
        "folder",
        "source",
        "destination",
        "src",
        "dst",
        "dest",
    ]) {
        Topic::Path
    } else {
        Topic::Any
    }
}
