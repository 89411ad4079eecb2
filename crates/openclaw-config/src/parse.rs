//! JSON5 text into a tree; syntax errors and duplicate keys.

use std::collections::HashMap;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use crate::path::JsonPath;
use crate::report::{Kind, Problem, Report};
use crate::source::{FileId, Span};
use crate::tree::{Member, Node, Number, Object, Value};

/// JSON5, neither more nor less.
pub(crate) fn options() -> ParseOptions {
    ParseOptions {
        allow_missing_commas: false,
        ..ParseOptions::default()
    }
}

/// Parses one file, whose root stands at `path` of the configuration.
///
/// Returns `None`, with the reason in the report, where the text is not JSON5.
pub(crate) fn parse(
    text: &str,
    file: FileId,
    path: &JsonPath,
    report: &mut Report,
) -> Option<Node> {
    let collect = CollectOptions {
        comments: CommentCollectionStrategy::Off,
        tokens: false,
    };
    match parse_to_ast(text, &collect, &options()) {
        Ok(result) => {
            let Some(value) = result.value else {
                // An emptied file is more often an accident than a wish for defaults.
                report.add(
                    Problem::error(Kind::Syntax, path, "the file is empty")
                        .at(Span {
                            file,
                            start: 0,
                            end: 0,
                        })
                        .help("write `{}` for a configuration without settings"),
                );
                return None;
            };
            let mut converter = Converter { text, file, report };
            Some(converter.node(value, &mut path.clone()))
        }
        Err(error) => {
            let range = error.range();
            let span = Span {
                file,
                start: text.floor_char_boundary(range.start),
                end: text.floor_char_boundary(range.end),
            };
            report.add(Problem::error(Kind::Syntax, path, syntax_message(error.kind())).at(span));
            None
        }
    }
}

/// Says what the parser found in the words of somebody who is looking at the text.
fn syntax_message(kind: &ParseErrorKind) -> String {
    let text = match kind {
        ParseErrorKind::ExpectedComma => "a comma is missing before this",
        ParseErrorKind::ExpectedColonAfterObjectKey => "a colon is missing after this key",
        ParseErrorKind::ExpectedObjectValue => "a value is missing after the colon",
        ParseErrorKind::ExpectedStringObjectProperty => "a key is missing here",
        ParseErrorKind::MultipleRootJsonValues => "text follows after the end of the configuration",
        ParseErrorKind::UnexpectedCloseBrace | ParseErrorKind::UnexpectedCloseBracket => {
            "a value is missing before this"
        }
        ParseErrorKind::UnexpectedTokenInObject => "a key is missing before this",
        ParseErrorKind::UnterminatedObject => "this object has no closing `}`",
        ParseErrorKind::UnterminatedArray => "this array has no closing `]`",
        ParseErrorKind::UnterminatedCommentBlock => "this comment has no closing `*/`",
        ParseErrorKind::UnexpectedWord | ParseErrorKind::UnexpectedToken => {
            "this is no value: strings need straight quotes, `\"…\"` or `'…'`"
        }
        ParseErrorKind::NestingDepthExceeded => "the values are nested too deeply",
        other => {
            let text = other.to_string();
            let mut letters = text.chars();
            return letters
                .next()
                .map(|first| first.to_lowercase().chain(letters).collect())
                .unwrap_or_default();
        }
    };
    text.to_owned()
}

struct Converter<'a> {
    text: &'a str,
    file: FileId,
    report: &'a mut Report,
}

impl Converter<'_> {
    fn span(&self, ranged: &impl Ranged) -> Span {
        let range = ranged.range();
        Span {
            file: self.file,
            start: range.start,
            end: range.end,
        }
    }

    // The parser has bounded the nesting, so this recursion is bounded too.
    fn node(&mut self, value: ast::Value<'_>, path: &mut JsonPath) -> Node {
        let span = self.span(&value);
        let value = match value {
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
            ast::Value::NumberLit(literal) => Value::Number(Number {
                value: number(literal.value),
                text: literal.value.to_owned(),
            }),
            ast::Value::StringLit(literal) => {
                self.check_line_breaks(span, path);
                Value::String(literal.value.into_owned())
            }
            ast::Value::Array(array) => Value::Array(
                array
                    .elements
                    .into_iter()
                    .enumerate()
                    .map(|(index, element)| {
                        path.push_index(index);
                        let node = self.node(element, path);
                        path.pop();
                        node
                    })
                    .collect(),
            ),
            ast::Value::Object(object) => Value::Object(self.object(object, path)),
        };
        Node { span, value }
    }

    /// Reports a string that goes on in the next line, as one without its closing quote does.
    fn check_line_breaks(&mut self, span: Span, path: &JsonPath) {
        let mut escaped = false;
        for c in self.text[span.start..span.end].chars() {
            if matches!(c, '\n' | '\r') && !escaped {
                let message = "a string must end in the line in which it begins";
                let problem = Problem::error(Kind::Syntax, path, message).at(span);
                self.report
                    .add(problem.help("is its closing quote missing?"));
                return;
            }
            // A line break after a backslash may be of two characters.
            escaped = (c == '\\' && !escaped) || (c == '\r' && escaped);
        }
    }

    fn object(&mut self, object: ast::Object<'_>, path: &mut JsonPath) -> Object {
        let mut seen: HashMap<String, Span> = HashMap::with_capacity(object.properties.len());
        let mut members = Vec::with_capacity(object.properties.len());
        for property in object.properties {
            let key_span = self.span(&property.name);
            let is_bare = matches!(property.name, ast::ObjectPropName::Word(_));
            let key = property.name.into_string();
            path.push_key(&key);
            self.check_line_breaks(key_span, path);
            if is_bare && !is_identifier(&key) {
                let message = format!("the key `{}` needs quotes", printable(&key));
                let problem = Problem::error(Kind::Syntax, path, message).at(key_span);
                self.report.add(problem.suggest(format!("\"{key}\"")));
            }
            if let Some(first) = seen.insert(key.clone(), key_span) {
                self.report.add(
                    Problem::error(
                        Kind::DuplicateKey,
                        path,
                        format!("`{}` stands here twice", printable(&key)),
                    )
                    .at(key_span)
                    .also(first, "first here")
                    .help("remove one of the two"),
                );
            } else {
                let value = self.node(property.value, path);
                members.push(Member {
                    key,
                    key_span,
                    value,
                });
            }
            path.pop();
        }
        Object { members }
    }
}

/// Whether a key can stand without quotes.
fn is_identifier(key: &str) -> bool {
    key.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'))
        && key
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '\u{200c}' | '\u{200d}'))
}

/// A foreign text in a message: control characters escaped, length bounded.
pub(crate) fn printable(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut result: String = text
        .chars()
        .take(LONGEST)
        .flat_map(|c| {
            let escape = c.is_control() || is_bidirectional_control(c);
            let escaped = escape.then(|| c.escape_default());
            let plain = (!escape).then_some(c);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        result.push('…');
    }
    result
}

/// Characters that change the direction of the text after them, and so what a person reads.
fn is_bidirectional_control(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The value of a JSON5 number; what can't be read as one becomes `NaN`, which no field accepts.
fn number(text: &str) -> f64 {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let magnitude = match digits.get(..2) {
        Some("0x" | "0X") => digits[2..].chars().fold(0.0, |value, digit| {
            digit
                .to_digit(16)
                .map_or(f64::NAN, |digit| value * 16.0 + f64::from(digit))
        }),
        _ => digits.parse().unwrap_or(f64::NAN),
    };
    if negative { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json5_numbers_have_their_values() {
        assert_eq!(number("0xFF").to_bits(), 255.0_f64.to_bits());
        assert_eq!(number("-.5").to_bits(), (-0.5_f64).to_bits());
        assert_eq!(number("+3e2").to_bits(), 300.0_f64.to_bits());
        assert!(number("Infinity").is_infinite());
        assert!(number("NaN").is_nan());
    }

    #[test]
    fn foreign_text_cannot_move_the_cursor_or_turn_the_line() {
        assert_eq!(printable("a\u{1b}[2Jb\u{202e}c"), "a\\u{1b}[2Jb\\u{202e}c");
        assert_eq!(printable(&"x".repeat(100)).chars().count(), 81);
    }
}
