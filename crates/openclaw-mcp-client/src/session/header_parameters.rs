//! What a request of the second era says about itself in HTTP headers.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::params::Parameters;

/// The annotation of a parameter that is to be sent as a header.
const ANNOTATION: &str = "x-mcp-header";
/// The largest whole number that all implementations can read.
const LARGEST: i64 = (1 << 53) - 1;

/// Which parameters of which tools are sent as headers.
#[derive(Debug, Default)]
pub(crate) struct HeaderParameters {
    tools: HashMap<String, Vec<Parameter>>,
    /// Whether the tools were ever listed.
    pub(crate) listed: bool,
}

/// A parameter that is sent as a header.
#[derive(Debug)]
pub(crate) struct Parameter {
    header: HeaderName,
    path: Vec<String>,
}

impl HeaderParameters {
    /// Whether a tool has any.
    pub(crate) fn has_any(&self, tool: &str) -> bool {
        self.tools
            .get(tool)
            .is_some_and(|parameters| !parameters.is_empty())
    }

    /// Takes the parameters of all tools that were listed.
    pub(crate) fn replace(&mut self, tools: HashMap<String, Vec<Parameter>>) {
        self.tools = tools;
        self.listed = true;
    }
}

/// Adds the headers of a request.
pub(crate) fn describe(
    headers: &mut HeaderMap,
    version: &str,
    method: &str,
    params: &Parameters,
    parameters: &HeaderParameters,
) {
    let mut add = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(&encoded(value)) {
            headers.insert(name, value);
        }
    };
    add(HeaderName::from_static("mcp-protocol-version"), version);
    add(HeaderName::from_static("mcp-method"), method);
    let field = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return,
    };
    let Some(name) = params.get(field).and_then(Value::as_str) else {
        return;
    };
    add(HeaderName::from_static("mcp-name"), name);
    if method != "tools/call" {
        return;
    }
    for parameter in parameters.tools.get(name).into_iter().flatten() {
        let arguments = params.get("arguments");
        let value = parameter.path.iter().fold(arguments, |value, key| {
            value.and_then(|value| value.get(key))
        });
        let text = match value {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(flag)) => flag.to_string(),
            // Beyond this range not everybody reads the same number.
            Some(Value::Number(number))
                if number.as_i64().is_some_and(|it| it.abs() <= LARGEST) =>
            {
                number.to_string()
            }
            _ => continue,
        };
        add(parameter.header.clone(), &text);
    }
}

/// A value as it may stand in a header: plain where that is safe, else in base64.
fn encoded(value: &str) -> String {
    let is_printable = value.bytes().all(|byte| (0x20..=0x7E).contains(&byte));
    let is_trimmed = value.trim_matches(' ').len() == value.len();
    let looks_encoded = value.starts_with("=?base64?") && value.ends_with("?=");
    if is_printable && is_trimmed && !looks_encoded {
        value.to_owned()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(value))
    }
}

/// The parameters of a tool that are sent as headers. An error says why the tool can't be called.
pub(crate) fn parameters_of(schema: &Map<String, Value>) -> Result<Vec<Parameter>, String> {
    let mut walk = Walk {
        found: Vec::new(),
        names: HashSet::new(),
    };
    walk.schema(schema, &mut Vec::new(), true)?;
    Ok(walk.found)
}

struct Walk {
    found: Vec<Parameter>,
    names: HashSet<HeaderName>,
}

impl Walk {
    /// Looks at a schema; `plain` while only `properties` lead to it.
    fn schema(
        &mut self,
        schema: &Map<String, Value>,
        path: &mut Vec<String>,
        plain: bool,
    ) -> Result<(), String> {
        if let Some(annotation) = schema.get(ANNOTATION) {
            if !plain || path.is_empty() {
                return Err(format!("`{ANNOTATION}` stands where no parameter is"));
            }
            self.parameter(annotation, schema, path)?;
        }
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                // These hold data, not schemas.
                ("default" | "const" | "enum" | "examples" | ANNOTATION, _) => {}
                ("properties", Value::Object(properties)) => {
                    for (name, property) in properties {
                        path.push(name.clone());
                        self.value(property, path, plain)?;
                        path.pop();
                    }
                }
                (
                    "$defs" | "definitions" | "patternProperties" | "dependentSchemas",
                    Value::Object(schemas),
                ) => {
                    for schema in schemas.values() {
                        self.value(schema, path, false)?;
                    }
                }
                (_, value) => self.value(value, path, false)?,
            }
        }
        Ok(())
    }

    fn value(&mut self, value: &Value, path: &mut Vec<String>, plain: bool) -> Result<(), String> {
        match value {
            Value::Object(schema) => self.schema(schema, path, plain),
            Value::Array(schemas) => schemas
                .iter()
                .try_for_each(|schema| self.value(schema, path, false)),
            _ => Ok(()),
        }
    }

    fn parameter(
        &mut self,
        annotation: &Value,
        schema: &Map<String, Value>,
        path: &[String],
    ) -> Result<(), String> {
        let name = annotation.as_str().filter(|name| !name.is_empty());
        let header = name
            .and_then(|name| HeaderName::try_from(format!("mcp-param-{name}")).ok())
            .ok_or_else(|| format!("`{ANNOTATION}` of `{}` is no header name", path.join(".")))?;
        let kind = schema.get("type").and_then(Value::as_str);
        if !matches!(kind, Some("string" | "integer" | "boolean")) {
            let path = path.join(".");
            return Err(format!(
                "`{path}` can't be a header: it is no text, whole number or flag"
            ));
        }
        if !self.names.insert(header.clone()) {
            return Err(format!("two parameters have the header `{header}`"));
        }
        self.found.push(Parameter {
            header,
            path: path.to_vec(),
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(object) => object,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn values_that_could_do_harm_are_encoded() {
        assert_eq!(encoded("us west 1"), "us west 1");
        assert_eq!(encoded(""), "");
        assert_eq!(encoded("Hello, 世界"), "=?base64?SGVsbG8sIOS4lueVjA==?=");
        for value in [" a", "a ", "a\r\nb: c", "a\tb", "=?base64?YQ==?=", "\u{7f}"] {
            assert!(encoded(value).starts_with("=?base64?"), "{value:?}");
        }
    }

    #[test]
    fn parameters_are_found_at_their_paths() {
        let schema = object(json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "inner": {"type": "object", "properties": {
                "flag": {"type": "boolean", "x-mcp-header": "Flag"}}},
            "x-mcp-header": {"type": "string"},
            "data": {"type": "object", "default": {"x-mcp-header": 1}},
        }}));
        let mut parameters = HeaderParameters::default();
        parameters.replace([("t".to_owned(), parameters_of(&schema).unwrap())].into());
        let mut headers = HeaderMap::new();
        let arguments = json!({"region": "eu", "inner": {"flag": false}});
        let params = Parameters::from([("name", "t".into()), ("arguments", arguments)]);
        describe(
            &mut headers,
            "2026-07-28",
            "tools/call",
            &params,
            &parameters,
        );
        let shown: Vec<_> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        assert_eq!(
            shown,
            [
                "mcp-protocol-version: 2026-07-28",
                "mcp-method: tools/call",
                "mcp-name: t",
                "mcp-param-region: eu",
                "mcp-param-flag: false",
            ]
        );
    }

    #[test]
    fn a_tool_with_a_wrong_annotation_can_not_be_called() {
        let property = |property: Value| json!({"properties": {"a": property}});
        for schema in [
            property(json!({"type": "string", "x-mcp-header": ""})),
            property(json!({"type": "string", "x-mcp-header": 1})),
            property(json!({"type": "string", "x-mcp-header": "a b"})),
            property(json!({"type": "string", "x-mcp-header": "a:b"})),
            property(json!({"type": "string", "x-mcp-header": "Région"})),
            property(json!({"type": "number", "x-mcp-header": "A"})),
            property(json!({"type": "object", "x-mcp-header": "A"})),
            property(json!({"type": ["string", "null"], "x-mcp-header": "A"})),
            property(json!({"x-mcp-header": "A"})),
            property(json!({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}})),
            json!({"x-mcp-header": "A"}),
            json!({"$defs": {"a": {"type": "string", "x-mcp-header": "A"}}}),
            json!({"properties": {
                "a": {"type": "string", "x-mcp-header": "A"},
                "b": {"type": "string", "x-mcp-header": "a"},
            }}),
        ] {
            assert!(parameters_of(&object(schema.clone())).is_err(), "{schema}");
        }
    }
}
