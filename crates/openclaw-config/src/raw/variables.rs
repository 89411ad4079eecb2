//! Maps whose keys have a form of their own: variables and headers.

use serde_json::{Value as Json, json};

use crate::raw::{ConfigValue, RawCredential};
use crate::report::{Kind, Problem};
use crate::shape::{Context, Definitions, Named, NamedValue, Shape};
use crate::tree::Node;

/// Variables for a program's environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct VariableMap(pub(crate) Vec<NamedValue<RawCredential>>);

impl Shape for VariableMap {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let Named(entries) = Named::<RawCredential>::decode(node, context)?;
        let mut whole = true;
        for entry in &entries {
            let is_name = !entry.name.is_empty() && !entry.name.contains(['=', '\0']);
            whole &= check(
                context,
                entry,
                is_name,
                "the name of a variable has at least one character, and no `=`",
            );
            whole &= check(
                context,
                entry,
                !text_of(&entry.value.value).contains('\0'),
                "the value of a variable must not contain a NUL character",
            );
        }
        whole.then_some(Self(entries))
    }

    fn schema(definitions: &mut Definitions) -> Json {
        json!({
            "type": "object",
            "propertyNames": { "pattern": "^[^=\\u0000]+$" },
            "additionalProperties": RawCredential::schema(definitions),
        })
    }
}

/// HTTP headers, no name twice.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeaderMap(pub(crate) Vec<NamedValue<RawCredential>>);

impl Shape for HeaderMap {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let Named(entries) = Named::<RawCredential>::decode(node, context)?;
        let mut whole = true;
        let mut seen = std::collections::HashSet::new();
        for entry in &entries {
            whole &= check(
                context,
                entry,
                is_header_name(&entry.name),
                "the name of a header has only letters, digits and the signs !#$%&'*+-.^_`|~",
            );
            whole &= check(
                context,
                entry,
                is_header_value(&entry.value.value),
                "the value of a header has no line breaks and no control characters",
            );
            whole &= check(
                context,
                entry,
                seen.insert(entry.name.to_ascii_lowercase()),
                "this header stands here twice, in different letters",
            );
        }
        whole.then_some(Self(entries))
    }

    fn schema(definitions: &mut Definitions) -> Json {
        json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" },
            "additionalProperties": {
                "allOf": [
                    RawCredential::schema(definitions),
                    { "not": { "type": "string", "pattern": "[\\u0000-\\u0008\\u000a-\\u001f\\u007f]" } },
                ],
            },
        })
    }
}

/// Reports an entry that does not hold what it must.
fn check(
    context: &mut Context<'_>,
    entry: &NamedValue<RawCredential>,
    holds: bool,
    message: &str,
) -> bool {
    if !holds {
        let path = context.path.child(&entry.name);
        let problem = Problem::error(Kind::Value, &path, message).at(entry.name_span);
        context.report.add(problem);
    }
    holds
}

fn text_of(value: &ConfigValue) -> &str {
    match value {
        ConfigValue::Plain { value, .. } => value.expose(),
        ConfigValue::Reference { prefix, .. } => prefix,
    }
}

// RFC 9110 §5.6.2
pub(crate) fn is_header_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether a value can be sent in a header: RFC 9110 §5.5.
pub(crate) fn is_header_value(value: &ConfigValue) -> bool {
    !text_of(value)
        .chars()
        .any(|c| c.is_ascii_control() && c != '\t')
}
