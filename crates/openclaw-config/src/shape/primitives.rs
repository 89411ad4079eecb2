//! Booleans, numbers, strings, lists and maps.

use std::time::Duration;

use openclaw_secrets::contains_secret_uri;
use serde_json::{Value as Json, json};

use crate::expand::Text;
use crate::parse::printable;
use crate::report::{Kind, Problem};
use crate::shape::context::nearest;
use crate::shape::{Context, Definitions, Shape};
use crate::source::Span;
use crate::tree::{Node, Number, Value};

impl Shape for bool {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        match node.value {
            Value::Bool(value) => Some(value),
            _ => {
                context.wrong_type(node, "a boolean");
                None
            }
        }
    }

    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "boolean" })
    }
}

impl Shape for Text {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        context.text(node)
    }

    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "string" })
    }
}

/// A string with something in it.
#[derive(Clone, Debug)]
pub(crate) struct NonEmpty(pub(crate) Text);

impl Shape for NonEmpty {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let text = context.text(node)?;
        if text.value.is_empty() {
            context.error(Kind::Value, node.span, "this must not be empty");
            return None;
        }
        if text.value.contains('\0') {
            context.error(
                Kind::Value,
                node.span,
                "this must not contain a NUL character",
            );
            return None;
        }
        if contains_secret_uri(&text.value) {
            let message = "secrets are not put in here: they work in `env`, `headers`, `apiKey`, \
                           `clientSecret` and keys of models";
            context.error(Kind::Value, node.span, message);
            return None;
        }
        Some(Self(text))
    }

    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "string", "minLength": 1, "not": { "pattern": "secret://|\\u0000" } })
    }
}

/// A whole number from `LEAST` to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Whole<const LEAST: u64, const MOST: u64>(pub(crate) u64);

impl<const LEAST: u64, const MOST: u64> Shape for Whole<LEAST, MOST> {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let Value::Number(Number { value: number, .. }) = node.value else {
            context.wrong_type(node, "a whole number");
            return None;
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the conversion saturates, and the range is checked after it"
        )]
        let whole = number as u64;
        #[expect(
            clippy::cast_precision_loss,
            reason = "only whole numbers come back equal"
        )]
        let exact = whole as f64;
        let is_whole = exact.to_bits() == number.to_bits() || (number == 0.0 && whole == 0);
        if !is_whole || !(LEAST..=MOST).contains(&whole) {
            context.error(
                Kind::Value,
                node.span,
                format!("expected a whole number from {LEAST} to {MOST}"),
            );
            return None;
        }
        Some(Self(whole))
    }

    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "integer", "minimum": LEAST, "maximum": MOST })
    }
}

/// A TCP port; 0 lets the system choose.
pub(crate) type Port = Whole<0, 65_535>;

/// The longest time that a setting can name, in milliseconds: 49 days.
const LONGEST: u64 = 4_294_967_295;

/// A time in milliseconds, longer than none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Milliseconds(pub(crate) Duration);

impl Shape for Milliseconds {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let Whole(number) = Whole::<1, LONGEST>::decode(node, context)?;
        Some(Self(Duration::from_millis(number)))
    }

    fn schema(definitions: &mut Definitions) -> Json {
        Whole::<1, LONGEST>::schema(definitions)
    }
}

impl<T: Shape> Shape for Vec<T> {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let Value::Array(elements) = &node.value else {
            context.wrong_type(node, "an array");
            return None;
        };
        let mut whole = true;
        let mut values = Self::with_capacity(elements.len());
        for (index, element) in elements.iter().enumerate() {
            context.path.push_index(index);
            match T::decode(element, context) {
                Some(value) => values.push(value),
                None => whole = false,
            }
            context.path.pop();
        }
        whole.then_some(values)
    }

    fn schema(definitions: &mut Definitions) -> Json {
        json!({ "type": "array", "items": T::schema(definitions) })
    }
}

/// A string in which nothing is put in.
#[derive(Clone, Debug)]
pub(crate) struct Literal;

impl Shape for Literal {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        match &node.value {
            Value::String(_) => Some(Self),
            _ => {
                context.wrong_type(node, "a string");
                None
            }
        }
    }

    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "string" })
    }
}

/// An element of a list, with its place.
#[derive(Clone, Debug)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

impl<T: Shape> Shape for Placed<T> {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        T::decode(node, context).map(|value| Self {
            value,
            span: node.span,
        })
    }

    fn schema(definitions: &mut Definitions) -> Json {
        T::schema(definitions)
    }
}

/// An object whose keys are names that people choose, in the order of the file.
#[derive(Clone, Debug)]
pub(crate) struct Named<T>(pub(crate) Vec<NamedValue<T>>);

/// A value, its name, and their places.
#[derive(Clone, Debug)]
pub(crate) struct NamedValue<T> {
    pub(crate) name: String,
    pub(crate) name_span: Span,
    pub(crate) value: T,
    pub(crate) span: Span,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Shape> Shape for Named<T> {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let object = context.object(node)?;
        let mut whole = true;
        let mut values = Vec::with_capacity(object.members.len());
        for member in &object.members {
            context.path.push_key(&member.key);
            match T::decode(&member.value, context) {
                Some(value) => values.push(NamedValue {
                    name: member.key.clone(),
                    name_span: member.key_span,
                    value,
                    span: member.value.span,
                }),
                None => whole = false,
            }
            context.path.pop();
        }
        whole.then_some(Self(values))
    }

    fn schema(definitions: &mut Definitions) -> Json {
        json!({ "type": "object", "additionalProperties": T::schema(definitions) })
    }
}

/// Reads one of the words of a choice, and says which one it is.
pub(crate) fn choice(node: &Node, context: &mut Context<'_>, words: &[&str]) -> Option<usize> {
    let text = context.text(node)?;
    if !text.is_complete() {
        return None;
    }
    let found = words.iter().position(|word| *word == text.value);
    if found.is_none() {
        let list: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        // A credential that stands in the wrong field is not repeated.
        let is_shown = text.variables.is_empty()
            && text.value.chars().count() <= 32
            && !context.path.names_a_credential();
        let value = if is_shown {
            format!(" `{}`", printable(&text.value))
        } else {
            String::new()
        };
        let message = format!("unknown value{value}: expected {}", list.join(", "));
        let mut problem = Problem::error(Kind::Value, &context.path, message).at(node.span);
        if let Some(nearest) = nearest(&text.value, words) {
            problem = problem
                .help(format!("did you mean `{nearest}`?"))
                .suggest(nearest);
        }
        context.report.add(problem);
    }
    found
}
