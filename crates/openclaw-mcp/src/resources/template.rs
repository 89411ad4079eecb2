//! Addresses after a template, while somebody writes one.

use serde_json::{Map, Value};

/// The variable of a template that is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedVariable {
    /// Its name.
    pub name: String,
    /// What there is of its value.
    pub value: String,
    /// The variables before it, with their values.
    pub others: Map<String, Value>,
    /// What was written before it.
    before: String,
}

impl TypedVariable {
    /// What is written once the variable has this value, up to its end.
    pub fn completed(&self, value: &str) -> String {
        let mut text = self.before.clone();
        encode(value, &mut text);
        text
    }
}

/// A piece of a template.
enum Piece<'t> {
    Text(&'t str),
    Variable(&'t str),
}

/// Which variable of a template somebody is writing, and what of it, given what is written so far;
/// none if the text does not fit the template, or is past its last variable. Only variables by
/// themselves (`{name}`, RFC 6570 level 1) are looked at: a template is followed up to where it has
/// anything else.
///
/// ```
/// use openclaw_mcp::typed_variable;
///
/// let typed = typed_variable("issues://{project}/{number}", "issues://core/4").unwrap();
/// assert_eq!((typed.name.as_str(), typed.value.as_str()), ("number", "4"));
/// assert_eq!(typed.others["project"], "core");
/// assert_eq!(typed.completed("42"), "issues://core/42");
/// ```
pub fn typed_variable(template: &str, typed: &str) -> Option<TypedVariable> {
    let pieces = pieces(template);
    let mut pieces = pieces.iter().peekable();
    let mut others = Map::new();
    let mut rest = typed;
    while let Some(piece) = pieces.next() {
        match piece {
            Piece::Text(text) => rest = rest.strip_prefix(text)?,
            Piece::Variable(name) => {
                let end = match pieces.peek() {
                    Some(Piece::Text(text)) => rest.find(text),
                    // Nobody can say where the one ends and the other begins.
                    Some(Piece::Variable(_)) | None => None,
                };
                let Some(end) = end else {
                    return Some(TypedVariable {
                        name: (*name).to_owned(),
                        value: decoded(rest),
                        others,
                        before: typed.strip_suffix(rest)?.to_owned(),
                    });
                };
                let (value, after) = rest.split_at(end);
                others.insert((*name).to_owned(), Value::String(decoded(value)));
                rest = after;
            }
        }
    }
    None
}

/// The pieces of a template, up to the first that is not understood.
fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((text, after)) = rest.split_once('{') {
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        let Some((name, after)) = after.split_once('}') else {
            return pieces;
        };
        let is_name =
            |character: char| character.is_ascii_alphanumeric() || "_.%".contains(character);
        if name.is_empty() || !name.chars().all(is_name) {
            return pieces;
        }
        pieces.push(Piece::Variable(name));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}

/// A value as it stands in an address (RFC 6570 §3.2.2): all but unreserved characters encoded.
fn encode(value: &str, out: &mut String) {
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
}

/// The value that stands in an address; what is not rightly encoded stands for itself.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        let digits = digits.filter(|it| it.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match digits.and_then(|it| u8::from_str_radix(it, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn typed(template: &str, text: &str) -> Option<String> {
        let typed = typed_variable(template, text)?;
        Some(format!("{}={}", typed.name, typed.value))
    }

    #[test]
    fn the_variable_is_the_one_at_the_end_of_what_is_written() {
        let template = "a://{one}/x/{two}";
        assert_eq!(typed(template, "a://").as_deref(), Some("one="));
        assert_eq!(typed(template, "a://b").as_deref(), Some("one=b"));
        assert_eq!(typed(template, "a://b/").as_deref(), Some("one=b/"));
        assert_eq!(typed(template, "a://b/x/").as_deref(), Some("two="));
        assert_eq!(typed(template, "a://b/x/c").as_deref(), Some("two=c"));
        assert_eq!(typed(template, "a:/"), None);
        assert_eq!(typed(template, "b://x"), None);
        assert_eq!(
            typed("a://{one}.md", "a://b.md"),
            None,
            "nothing is left to write"
        );
        assert_eq!(typed("a://b", "a://b"), None);
        assert_eq!(typed("{one}", "x").as_deref(), Some("one=x"));
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        for template in [
            "a://{+path}",
            "a://{?q}",
            "a://{a,b}",
            "a://{a:3}",
            "a://{",
            "a://{}",
        ] {
            assert_eq!(typed(template, "a://x"), None, "{template}");
        }
        assert_eq!(typed("a://{one}/{?q}", "a://x").as_deref(), Some("one=x"));
        assert_eq!(typed("a://{one}/{?q}", "a://x/"), None);
        assert_eq!(typed("a://{one}{two}", "a://x").as_deref(), Some("one=x"));
    }

    #[test]
    fn values_are_decoded_and_encoded() {
        let typed = typed_variable("a://{one}/{two}", "a://b%20c/%C3").unwrap();
        assert_eq!(typed.others["one"], "b c");
        assert_eq!(typed.value, "%C3", "half a character");
        assert_eq!(typed.completed("ä/d"), "a://b%20c/%C3%A4%2Fd");
    }

    proptest! {
        #[test]
        fn a_completed_value_is_read_again(value in ".{0,12}", before in "[a-z]{0,4}") {
            let start = format!("x://{before}/");
            let typed = typed_variable("x://{first}/{second}", &start).unwrap();
            let again = typed_variable("x://{first}/{second}", &typed.completed(&value)).unwrap();
            prop_assert_eq!((again.name.as_str(), again.value), ("second", value));
        }

        #[test]
        fn nothing_that_is_written_does_harm(template in "[a{}/+%]{0,12}", text in "\\PC{0,12}") {
            let _ = typed_variable(&template, &text);
        }
    }
}
