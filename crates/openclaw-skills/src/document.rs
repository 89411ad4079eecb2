//! A file `SKILL.md`, taken apart: fields between two lines `---`, and a text below them.

use crate::value::{Kind, Mistake, Value};
use crate::{json, yaml};

/// How large the fields may be, in bytes.
const FIELDS_BYTES: usize = 64 << 10;
/// The line that begins and ends the fields.
const FENCE: &str = "---";
/// The line on which the first field stands.
const FIRST_LINE: usize = 2;

/// The parts of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Document<'t> {
    fields: &'t str,
    /// The text for models.
    pub(crate) body: &'t str,
}

impl<'t> Document<'t> {
    /// Finds the parts.
    pub(crate) fn of(text: &'t str) -> Result<Self, Mistake> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let is_fence = |line: &str| line.trim_end() == FENCE;
        let mut lines = text.split_inclusive('\n');
        let first = lines.next().filter(|line| is_fence(line));
        let Some(first) = first else {
            let message = "a skill begins with a line `---`, its fields, and another line `---`";
            return Err(Mistake::new(1, message));
        };
        let start = first.len();
        let mut end = start;
        for line in lines {
            let next = end + line.len();
            if is_fence(line) {
                return Self::with_parts(text.get(start..end), text.get(next..));
            }
            end = next;
        }
        Err(Mistake::new(
            1,
            "the line `---` that ends the fields is missing",
        ))
    }

    fn with_parts(fields: Option<&'t str>, body: Option<&'t str>) -> Result<Self, Mistake> {
        let fields = fields.unwrap_or_default();
        if fields.len() > FIELDS_BYTES {
            let message = format!("the fields are larger than {} KB", FIELDS_BYTES >> 10);
            return Err(Mistake::new(FIRST_LINE, message));
        }
        Ok(Self {
            fields,
            body: body.unwrap_or_default(),
        })
    }

    /// Reads the fields.
    pub(crate) fn fields(&self) -> Result<Fields, Mistake> {
        // Some write JSON5 there, with comments and tabs. YAML refuses that, or takes a comment for
        // a key, and so it is looked at first.
        let metadata = Metadata::of(self.fields).and_then(|metadata| {
            let value = json::parse(metadata.text, metadata.line).ok()?;
            Some((value, metadata.rest))
        });
        let (metadata, values) = match metadata {
            Some((metadata, rest)) => (Some(metadata), parse(&rest)?),
            None => (None, parse(self.fields)?),
        };
        if !matches!(values.kind, Kind::Map(_) | Kind::Null) {
            return Err(Mistake::new(values.line, "here stand no fields"));
        }
        Ok(Fields { values, metadata })
    }
}

/// Reads fields in YAML. Many write `description: this: and that` without quotes, and mean a text.
fn parse(fields: &str) -> Result<Value, Mistake> {
    yaml::parse(fields, FIRST_LINE).or_else(|mistake| {
        // What was wrong as it stands is the better message where this does not help either.
        yaml::parse(&quoted(fields), FIRST_LINE).map_err(|_| mistake)
    })
}

/// The fields, those quoted that are plain texts on one line with a colon in them.
fn quoted(fields: &str) -> String {
    let mut lines = fields.lines().peekable();
    let mut text = String::with_capacity(fields.len() + 64);
    while let Some(line) = lines.next() {
        let goes_on = lines
            .peek()
            .is_some_and(|next| next.starts_with([' ', '\t']));
        match line.split_once(": ") {
            Some((name, value)) if !goes_on && is_plain(name, value.trim()) => {
                let value = value.trim().replace('\'', "''");
                text.push_str(&format!("{name}: '{value}'"));
            }
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

fn is_plain(name: &str, value: &str) -> bool {
    let is_name = name.starts_with(|it: char| it.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'));
    let signs = [
        '\'', '"', '|', '>', '[', ']', '{', '}', '&', '*', '!', '%', '@', '`', '#', ',',
    ];
    is_name && !value.starts_with(signs) && (value.contains(": ") || value.ends_with(':'))
}

/// The fields of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fields {
    values: Value,
    /// Those of `metadata`, where they are not among the others.
    metadata: Option<Value>,
}

impl Fields {
    /// The field of this name, where it is given.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The field `metadata`: an object, or one as a text in JSON.
    pub(crate) fn metadata(&self) -> Result<Option<Value>, Mistake> {
        let field = "metadata";
        if let Some(metadata) = &self.metadata {
            return Ok(Some(metadata.clone()));
        }
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        match value.text(field) {
            Ok(text) => json::parse(text, value.line).map(Some),
            Err(_) => value.object(field).cloned().map(Some),
        }
    }
}

/// The field `metadata` in braces, and the fields without it.
struct Metadata<'t> {
    text: &'t str,
    line: usize,
    rest: String,
}

impl<'t> Metadata<'t> {
    fn of(fields: &'t str) -> Option<Self> {
        let name = "metadata:";
        let is_inside = |line: &str| {
            line.trim().is_empty() || line.starts_with([' ', '\t', '{', '}', '/', '"', '\''])
        };
        let mut start = None;
        let mut end = fields.len();
        let mut at = 0;
        for (number, line) in fields.split_inclusive('\n').enumerate() {
            match start {
                None if line.starts_with(name) => start = Some((at, number)),
                Some(_) if !is_inside(line) => {
                    end = at;
                    break;
                }
                None | Some(_) => {}
            }
            at += line.len();
        }
        let (start, number) = start?;
        let text = fields.get(start + name.len()..end)?;
        if !text.trim_start().starts_with('{') {
            return None;
        }
        // Lines keep their numbers.
        let breaks = "\n".repeat(fields.get(start..end)?.matches('\n').count());
        Some(Self {
            text,
            line: FIRST_LINE + number,
            rest: [fields.get(..start)?, &breaks, fields.get(end..)?].concat(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn emoji(text: &str) -> String {
        let document = Document::of(text).unwrap();
        let metadata = document.fields().unwrap().metadata().unwrap().unwrap();
        let emoji = metadata.get("openclaw").and_then(|it| it.get("emoji"));
        emoji.unwrap().text("emoji").unwrap().to_owned()
    }

    #[test]
    fn fields_and_text_are_found_whatever_ends_the_lines() {
        for text in [
            "---\nname: a\n---\n\nBody\n",
            "---\r\nname: a\r\n---\r\n\nBody\n",
            "\u{feff}--- \nname: a\n---\t\n\nBody\n",
        ] {
            let document = Document::of(text).unwrap();
            assert_eq!(document.body, "\nBody\n");
            let fields = document.fields().unwrap();
            assert_eq!(fields.get("name").unwrap().text("name").unwrap(), "a");
        }
        assert_eq!(Document::of("---\nname: a\n---").unwrap().body, "");
    }

    #[test]
    fn a_line_that_is_missing_is_named() {
        for text in ["", "# Title", "name: a\n---\n", "\n---\nname: a\n---\n"] {
            assert!(Document::of(text).unwrap_err().message.contains("begins"));
        }
        let mistake = Document::of("---\nname: a\n").unwrap_err();
        assert!(mistake.message.contains("is missing"), "{mistake:?}");
        let large = format!("---\nx: {}\n---\n", "x".repeat(70_000));
        assert!(Document::of(&large).is_err());
    }

    #[test]
    fn metadata_is_read_in_all_its_notations() {
        for metadata in [
            "metadata: {\"openclaw\": {\"emoji\": \"E\"}}",
            "metadata:\n  {\n    \"openclaw\": { \"emoji\": \"E\", },\n  }",
            "metadata:\n  openclaw:\n    emoji: E",
            "metadata: { openclaw: { emoji: E } }",
            "metadata: '{openclaw: {emoji: \"E\"}}'",
            "metadata: |\n  { // a comment\n    openclaw: { emoji: 'E', }, }",
            "metadata:\n  {\n    // a comment, which is not YAML\n    openclaw: { emoji: 'E' },\n  }",
            "metadata:\n{\n\t\"openclaw\": { \"emoji\": \"E\" }\n}",
        ] {
            let text = format!("---\nname: a\n{metadata}\ndescription: b\n---\n");
            assert_eq!(emoji(&text), "E", "{text}");
        }
    }

    #[test]
    fn a_text_with_a_colon_in_it_is_a_text() {
        for (written, read) in [
            ("one: two", "one: two"),
            ("it's one: it's two", "it's one: it's two"),
            ("ends so:", "ends so:"),
            ("'one: two'", "one: two"),
            (">\n  one: two", "one: two\n"),
        ] {
            let text = format!("---\r\ndescription: {written}\r\nname: a\r\n---\n");
            let fields = Document::of(&text).unwrap().fields().unwrap();
            let field = |name: &str| fields.get(name).unwrap().text(name).unwrap();
            assert_eq!((field("description"), field("name")), (read, "a"));
        }
    }

    #[test]
    fn a_mistake_has_the_line_of_the_file() {
        let mistake = |text: &str| Document::of(text).unwrap().fields().unwrap_err();
        assert_eq!(
            mistake("---\nname: a\ndescription: b\n  c: d\n---\n").line,
            4
        );
        let both = "---\nmetadata:\n  {\n    // no YAML\n    a: 1,\n  }\nname: [\n---\n";
        assert!(mistake(both).line >= 4);
        let json = "---\nname: a\nmetadata: '{ a: '\n---\n";
        let fields = Document::of(json).unwrap().fields().unwrap();
        assert_eq!(fields.metadata().unwrap_err().line, 3);
    }

    /// Pieces that mean something, in any order.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            prop::sample::select(vec![
                "---\n",
                "...\n",
                "name: ",
                "a",
                "\n",
                "  ",
                "\t",
                "- ",
                "? ",
                ": ",
                "{",
                "}",
                "[",
                "]",
                ",",
                "\"",
                "'",
                "|\n",
                ">-\n",
                "&a ",
                "*a",
                "!!str ",
                "%YAML 1.2\n",
                "# x",
                "metadata:",
                "{\"openclaw\":",
                "//",
                "/*",
                "\r\n",
                "\u{feff}",
                "\0",
                "é",
                "<<: ",
            ])
            .prop_map(str::to_owned),
            "\\PC{0,5}",
        ];
        prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn any_text_is_answered_with_a_line_that_it_has(inside in pieces()) {
            let text = format!("---\n{inside}\n---\nBody");
            let lines = text.lines().count();
            let document = Document::of(&text);
            if let Ok(document) = &document {
                prop_assert!(text.ends_with(document.body));
            }
            let read = document.and_then(|document| document.fields()?.metadata());
            if let Err(mistake) = read {
                prop_assert!((1..=lines + 1).contains(&mistake.line), "{mistake:?}");
            }
        }

        #[test]
        fn what_is_written_is_read(
            name in "[a-z][a-z0-9-]{0,20}", description in "[a-zA-Z0-9 äöü,.;'\"#:{}*&-]{1,80}",
            bins in prop::collection::vec("[a-z]{1,8}", 0..5),
        ) {
            let quoted = description.replace('\'', "''");
            let list: Vec<String> = bins.iter().map(|bin| format!("\"{bin}\"")).collect();
            let text = format!(
                "---\nname: {name}\ndescription: '{quoted}'\nmetadata: {{\"openclaw\": \
                 {{\"requires\": {{\"bins\": [{}]}}}}}}\n---\nBody", list.join(", ")
            );
            let fields = Document::of(&text).unwrap().fields().unwrap();
            let read = |field: &str| fields.get(field).unwrap().text(field).unwrap().to_owned();
            prop_assert_eq!(read("description"), description);
            if !matches!(name.as_str(), "null") {
                prop_assert_eq!(read("name"), name);
            }
            let metadata = fields.metadata().unwrap().unwrap();
            let requires = metadata.get("openclaw").unwrap().get("requires").unwrap();
            prop_assert_eq!(requires.get("bins").unwrap().texts("bins").unwrap(), bins);
        }
    }
}
