//! JSON5 into values: what some write for `metadata`.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use crate::value::{Kind, MOST, Mistake, Value, add_member};

/// Reads a text whose first line has this number.
pub(crate) fn parse(text: &str, first_line: usize) -> Result<Value, Mistake> {
    let collect = CollectOptions {
        comments: CommentCollectionStrategy::Off,
        tokens: false,
    };
    let options = ParseOptions {
        allow_missing_commas: false,
        ..ParseOptions::default()
    };
    let parsed = parse_to_ast(text, &collect, &options).map_err(|error| {
        let line = first_line + error.line_display().saturating_sub(1);
        Mistake::new(line, "this is not JSON")
    })?;
    let null = Value {
        line: first_line,
        kind: Kind::Null,
    };
    let mut reader = Reader {
        breaks: text.match_indices('\n').map(|(at, _)| at).collect(),
        first_line,
        values: 0,
    };
    parsed.value.map_or(Ok(null), |value| reader.value(value))
}

struct Reader {
    /// Where lines end, in bytes.
    breaks: Vec<usize>,
    first_line: usize,
    values: usize,
}

impl Reader {
    // The parser has bounded the nesting, so this recursion is bounded too.
    fn value(&mut self, value: ast::Value<'_>) -> Result<Value, Mistake> {
        let start = value.range().start;
        let line = self.first_line + self.breaks.partition_point(|at| *at < start);
        self.values += 1;
        if self.values > MOST {
            let message = format!("there are more than {MOST} values");
            return Err(Mistake::new(line, message));
        }
        let kind = match value {
            ast::Value::NullKeyword(_) => Kind::Null,
            ast::Value::BooleanLit(literal) => Kind::Text(literal.value.to_string()),
            ast::Value::NumberLit(literal) => Kind::Text(literal.value.to_owned()),
            ast::Value::StringLit(literal) => Kind::Text(literal.value.into_owned()),
            ast::Value::Array(array) => {
                let elements = array.elements.into_iter();
                let elements: Result<_, _> = elements.map(|it| self.value(it)).collect();
                Kind::List(elements?)
            }
            ast::Value::Object(object) => {
                let mut members = Vec::new();
                for property in object.properties {
                    let value = self.value(property.value)?;
                    add_member(&mut members, property.name.into_string(), value)?;
                }
                Kind::Map(members)
            }
        };
        Ok(Value { line, kind })
    }
}
