//! Values that are, or may be, credentials.

use openclaw_secrets::{
    Secret, SecretReference, contains_secret_uri, is_secret_uri, misspelt_secret_uri,
};
use serde_json::{Value as Json, json};

use crate::expand::Text;
use crate::report::{Kind, Problem};
use crate::shape::{Context, Definitions, Field, NonEmpty, Shape, choices, object};
use crate::tree::{Node, Number, Value};

/// A value that may be a credential: as it stands, or where to get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigValue {
    /// The value itself, its variables put in.
    Plain {
        /// The value, which nothing prints.
        value: Secret,
        /// The variables that it was made from.
        variables: Vec<String>,
        /// What stands in the file itself around the variables, if there are any.
        written: Secret,
    },
    /// A reference that is resolved when the value is needed.
    Reference {
        /// What stands before the resolved value, such as `Bearer `.
        prefix: String,
        /// Where the value is.
        secret: SecretReference,
    },
}

/// A [`ConfigValue`] as it stands in the file.
#[derive(Clone, Debug)]
pub(crate) struct RawCredential {
    pub(crate) value: ConfigValue,
}

object! {
    /// A reference with text before it.
    closed PrefixedSecret as "prefixedSecret" {
        /// What stands before the value, such as `Bearer `.
        prefix: Text = "prefix";
        /// Where the value is: `secret://…` or a reference object.
        secret: Reference = "secret";
    }
}

choices! {
    /// Where a reference object looks.
    pub(crate) enum SecretSource {
        /// Environment variables.
        Environment = "env",
        /// A file.
        File = "file",
        /// A program.
        Exec = "exec",
        /// The keyring.
        Store = "store",
    }
}

object! {
    /// A reference in the manner of OpenClaw.
    closed ReferenceObject as "secretReference" {
        /// Where to look; `store` is the keyring.
        source: SecretSource = "source";
        /// The entry of `secrets.providers` to use.
        provider: NonEmpty = "provider", default "default";
        /// What to look for there.
        id: NonEmpty = "id";
    }
}

/// `secret://…` or a reference object.
#[derive(Clone, Debug)]
pub(crate) struct Reference(SecretReference);

impl Shape for Reference {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        if node.as_object().is_some() {
            return reference_object(node, context).map(Self);
        }
        let text = context.text(node)?;
        if !is_secret_uri(&text.value) {
            let message = "expected a reference such as `secret://keyring/SERVICE/ACCOUNT`";
            context.error(Kind::Value, node.span, message);
            return None;
        }
        reference_text(&text, node, context).map(Self)
    }

    fn schema(definitions: &mut Definitions) -> Json {
        let object = reference_schema(definitions);
        json!({ "anyOf": [{ "type": "string", "pattern": PATTERN }, object] })
    }
}

impl Shape for RawCredential {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let plain = |text: Text| {
            Some(Self {
                value: ConfigValue::Plain {
                    value: Secret::new(text.value),
                    variables: text.variables,
                    written: Secret::new(text.written),
                },
            })
        };
        let reference = |prefix: String, secret| {
            Some(Self {
                value: ConfigValue::Reference { prefix, secret },
            })
        };
        match &node.value {
            Value::Object(object) if object.get("secret").is_some() => {
                let prefixed = PrefixedSecret::decode(node, context)?;
                let prefix = prefixed.prefix.value().map(|text| text.value.clone());
                match prefixed.secret {
                    Field::Given(secret) => reference(prefix.unwrap_or_default(), secret.value.0),
                    Field::Absent | Field::Invalid => None,
                }
            }
            Value::Object(_) => reference(String::new(), reference_object(node, context)?),
            Value::Bool(value) => plain(Text {
                value: value.to_string(),
                ..Text::default()
            }),
            Value::Number(number) if number.value.is_finite() => {
                let Some(value) = plain_number(number) else {
                    let message = "this number has too many digits";
                    let problem = Problem::error(Kind::Value, &context.path, message);
                    context
                        .report
                        .add(problem.at(node.span).help("put it in quotes"));
                    return None;
                };
                plain(Text {
                    value,
                    ..Text::default()
                })
            }
            Value::String(_) => {
                let text = context.credential_text(node)?;
                if is_secret_uri(&text.value) {
                    return reference(String::new(), reference_text(&text, node, context)?);
                }
                if let Some(meant) = misspelt_secret_uri(&text.value) {
                    let message = "this looks like a reference to a secret, and is none";
                    let problem = Problem::error(Kind::Value, &context.path, message);
                    let problem = problem.at(node.span).help(format!("write `{meant}`"));
                    context.report.add(problem);
                    return None;
                }
                if contains_secret_uri(&text.value) {
                    let problem = Problem::error(
                        Kind::Value,
                        &context.path,
                        "`secret://` works only as a whole value, not inside of one",
                    )
                    .at(node.span)
                    .help("write `{ \"prefix\": \"Bearer \", \"secret\": \"secret://…\" }`");
                    context.report.add(problem);
                    return None;
                }
                plain(text)
            }
            Value::Null | Value::Array(_) | Value::Number(_) => {
                context.wrong_type(node, "a string or a reference to a secret");
                None
            }
        }
    }

    fn schema(definitions: &mut Definitions) -> Json {
        let prefixed = PrefixedSecret::schema(definitions);
        definitions.extend("prefixedSecret", json!({ "required": ["secret"] }));
        let object = reference_schema(definitions);
        json!({
            "anyOf": [
                {
                    "type": "string",
                    "anyOf": [{ "not": { "pattern": "secret://" } }, { "pattern": PATTERN }],
                },
                { "type": ["number", "boolean"] },
                prefixed,
                object,
            ]
        })
    }
}

const PATTERN: &str = "^secret://(gcp|aws|vault|env|file|keyring|exec)/.+$";

fn reference_schema(definitions: &mut Definitions) -> Json {
    let reference = ReferenceObject::schema(definitions);
    definitions.extend(
        "secretReference",
        json!({
            "required": ["source", "id"],
            "not": { "required": ["secret"] },
        }),
    );
    reference
}

fn reference_text(text: &Text, node: &Node, context: &mut Context<'_>) -> Option<SecretReference> {
    match text.value.parse() {
        Ok(reference) => Some(reference),
        Err(error) => {
            let error: openclaw_secrets::SecretReferenceError = error;
            context.error(Kind::Value, node.span, error.to_string());
            None
        }
    }
}

fn reference_object(node: &Node, context: &mut Context<'_>) -> Option<SecretReference> {
    let object = ReferenceObject::decode(node, context)?;
    if object.source.is_absent() || object.id.is_absent() {
        let problem = Problem::error(
            Kind::Rule,
            &context.path,
            "an object here must be a reference to a secret",
        )
        .at(node.span)
        .help(
            "write `{ \"source\": \"env\", \"id\": \"NAME\" }` or \
             `{ \"prefix\": \"…\", \"secret\": \"secret://…\" }`",
        );
        context.report.add(problem);
        return None;
    }
    let provider = object.provider.value().map(|text| text.0.value.as_str());
    let (source, id) = (object.source.value()?.as_str(), &object.id.value()?.0.value);
    match SecretReference::from_object(source, provider, id) {
        Ok(reference) => Some(reference),
        Err(error) => {
            context.error(Kind::Value, node.span, error.to_string());
            None
        }
    }
}

/// A number as it is written, where others read it the same way; else as it is counted, if a
/// float can hold it.
fn plain_number(number: &Number) -> Option<String> {
    const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;
    let text = number.text.trim_start_matches('+').trim_end_matches('.');
    let is_plain = !text.starts_with('.')
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '-' | '.'));
    if is_plain {
        return Some(text.to_owned());
    }
    (number.value.abs() <= LARGEST_EXACT).then(|| number.value.to_string())
}
