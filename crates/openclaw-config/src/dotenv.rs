//! `.env` files: `NAME=value` lines.

/// A line with a mistake; its text is not kept, since it may be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadLine {
    pub(crate) line: usize,
    pub(crate) fault: &'static str,
}

const NO_ASSIGNMENT: &str = "this line is not `NAME=value` and is ignored";
const TEXT_AFTER_QUOTE: &str =
    "text follows after the closing quote and is ignored: is a quote missing above?";

/// The assignments of a `.env` file in their order, and the lines that are none.
///
/// Values stand bare (a comment starts at ` #`), in single quotes or backticks (taken as they
/// are) or in double quotes (`\n`, `\r`, `\t`, `\"` and `\\` are escapes); quoted ones may span
/// lines. `export` before a name is ignored.
pub(crate) fn parse(text: &str) -> (Vec<(String, String)>, Vec<BadLine>) {
    let mut assignments = Vec::new();
    let mut bad = Vec::new();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut line = 1;
    while !rest.is_empty() {
        let (consumed, outcome) = entry(rest);
        match outcome {
            Entry::Assignment(name, value, rest_of_line) => {
                if !is_comment(rest_of_line) {
                    let last = line
                        + rest[..consumed]
                            .trim_end_matches('\n')
                            .matches('\n')
                            .count();
                    bad.push(BadLine {
                        line: last,
                        fault: TEXT_AFTER_QUOTE,
                    });
                }
                assignments.push((name, value));
            }
            Entry::Nothing => {}
            Entry::Bad => bad.push(BadLine {
                line,
                fault: NO_ASSIGNMENT,
            }),
        }
        line += rest[..consumed].matches('\n').count();
        rest = &rest[consumed..];
    }
    (assignments, bad)
}

/// Whether what stands after a value is nothing or a comment.
fn is_comment(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.starts_with('#')
}

enum Entry<'t> {
    /// A name, its value, and what stands after the value's closing quote.
    Assignment(String, String, &'t str),
    Nothing,
    Bad,
}

/// Reads one entry and says how many bytes it took, its line end included.
fn entry(text: &str) -> (usize, Entry<'_>) {
    let end = text.find('\n').map_or(text.len(), |index| index + 1);
    let line = text[..end].trim();
    if line.is_empty() || line.starts_with('#') {
        return (end, Entry::Nothing);
    }
    let Some(equals) = text[..end].find('=') else {
        return (end, Entry::Bad);
    };
    let name = text[..equals].trim();
    let name = name
        .strip_prefix("export")
        .filter(|rest| rest.starts_with(char::is_whitespace))
        .map_or(name, str::trim_start);
    if !is_name(name) {
        return (end, Entry::Bad);
    }
    let after = &text[equals + 1..];
    let value = after.trim_start_matches([' ', '\t']);
    let start = text.len() - value.len();
    let quote = value
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\'' | '`'));
    if let Some(quote) = quote
        && let Some(length) = quoted_length(&value[1..], quote)
    {
        let close = start + 1 + length;
        let inner = &value[1..=length];
        let value = if quote == '"' {
            unescape(inner)
        } else {
            inner.to_owned()
        };
        let after = &text[close + 1..];
        let length = after.find('\n').map_or(after.len(), |index| index + 1);
        let assignment = Entry::Assignment(name.to_owned(), value, &after[..length]);
        return (close + 1 + length, assignment);
    }
    let bare = text.get(start..end).unwrap_or_default();
    let bare = match bare
        .find(" #")
        .or_else(|| bare.starts_with('#').then_some(0))
    {
        Some(comment) => &bare[..comment],
        None => bare,
    };
    (
        end.max(start),
        Entry::Assignment(name.to_owned(), bare.trim().to_owned(), ""),
    )
}

/// The bytes before the closing quote.
fn quoted_length(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (index, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' && quote == '"' {
            escaped = true;
        } else if c == quote {
            return Some(index);
        }
    }
    None
}

fn unescape(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        match characters.next() {
            Some('n') => result.push('\n'),
            Some('r') => result.push('\r'),
            Some('t') => result.push('\t'),
            Some(c @ ('"' | '\\')) => result.push(c),
            Some(other) => result.extend(['\\', other]),
            None => result.push('\\'),
        }
    }
    result
}

/// Whether a text can name a variable.
pub(crate) fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_usual_forms_are_read() {
        let text = "\
# a comment
PLAIN=value
export EXPORTED = spaced out   # comment
HASH=a#b
SINGLE='a $b #c'
DOUBLE=\"line\\none \\\"two\\\"\" # comment
MULTI=\"first
second\"
EMPTY=
UNCLOSED=\"abc
CRLF=windows\r
";
        let (assignments, bad) = parse(text);
        let expected = [
            ("PLAIN", "value"),
            ("EXPORTED", "spaced out"),
            ("HASH", "a#b"),
            ("SINGLE", "a $b #c"),
            ("DOUBLE", "line\none \"two\""),
            ("MULTI", "first\nsecond"),
            ("EMPTY", ""),
            ("UNCLOSED", "\"abc"),
            ("CRLF", "windows"),
        ];
        let found: Vec<(&str, &str)> = assignments
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(bad, []);
    }

    #[test]
    fn lines_that_assign_nothing_are_counted() {
        let (assignments, bad) = parse("A=1\nnot an assignment\n1X=2\n=3\nB=2");
        assert_eq!(assignments.len(), 2);
        assert_eq!(
            bad.iter().map(|bad| bad.line).collect::<Vec<_>>(),
            [2, 3, 4]
        );
    }

    #[test]
    fn a_forgotten_quote_is_pointed_out_where_it_shows() {
        let (assignments, bad) = parse("A=\"abc\nTOKEN=x\nB=\"def\"\nC=1\n");
        assert_eq!(assignments.len(), 2, "{assignments:?}");
        assert_eq!(
            bad,
            [BadLine {
                line: 3,
                fault: TEXT_AFTER_QUOTE
            }]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in "[\"'`=\\\\# \n\rA-C\u{e9}]{0,60}") {
            let (assignments, bad) = parse(&text);
            prop_assert!(assignments.len() <= text.lines().count());
            prop_assert!(bad.len() <= text.lines().count());
        }
    }
}
