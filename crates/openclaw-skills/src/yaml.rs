//! YAML into values, within limits.
//!
//! Aliases are refused: nobody needs them in a dozen of fields, and a few lines of them are
//! gigabytes of values.

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, options};

use crate::value::{Kind, MOST, Mistake, Value, add_member};

/// How deep values may be nested, in blocks and in brackets each.
const DEPTH: usize = 16;

/// Reads one document. Lines are counted from `first_line`.
pub(crate) fn parse(text: &str, first_line: usize) -> Result<Value, Mistake> {
    let options = options! {
        disallow_directives: true,
        emit_comments: false,
        flow_nesting_limit: DEPTH,
        block_nesting_limit: DEPTH,
    };
    let mut reader = Reader {
        events: Parser::new_from_str_with_options(text, options),
        first_line,
        values: 0,
    };
    let mut document = None;
    while let Some((event, span)) = reader.next()? {
        match event {
            Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
            Event::StreamEnd => break,
            event => document = Some(reader.value(event, span)?),
        }
    }
    Ok(document.unwrap_or(Value {
        line: first_line,
        kind: Kind::Null,
    }))
}

struct Reader<'t, I>
where
    I: Iterator<Item = Result<(Event<'t>, Span), ScanError>>,
{
    events: I,
    first_line: usize,
    values: usize,
}

impl<'t, I> Reader<'t, I>
where
    I: Iterator<Item = Result<(Event<'t>, Span), ScanError>>,
{
    fn line(&self, line: usize) -> usize {
        self.first_line + line.saturating_sub(1)
    }

    fn next(&mut self) -> Result<Option<(Event<'t>, Span)>, Mistake> {
        let event = self.events.next().transpose();
        event.map_err(|error| {
            let line = self.line(error.marker().line());
            let hint = match error.kind() {
                ErrorKind::MappingValueNotAllowed => "; put a text that has `: ` in it in quotes",
                _ => "",
            };
            Mistake::new(line, format!("this is not YAML: {}{hint}", error.info()))
        })
    }

    fn expect(&mut self, line: usize) -> Result<(Event<'t>, Span), Mistake> {
        let event = self.next()?;
        event.ok_or_else(|| Mistake::new(line, "this is not YAML: it ends too early"))
    }

    // The parser has bounded the nesting, so this recursion is bounded too.
    fn value(&mut self, event: Event<'t>, span: Span) -> Result<Value, Mistake> {
        let line = self.line(span.start.line());
        self.values += 1;
        if self.values > MOST {
            let message = format!("there are more than {MOST} values");
            return Err(Mistake::new(line, message));
        }
        let kind = match event {
            Event::Scalar(text, style, ..) => scalar(text.into_owned(), style),
            Event::SequenceStart(..) => {
                let mut elements = Vec::new();
                loop {
                    match self.expect(line)? {
                        (Event::SequenceEnd, _) => break,
                        (event, span) => elements.push(self.value(event, span)?),
                    }
                }
                Kind::List(elements)
            }
            Event::MappingStart(..) => self.members(line)?,
            Event::Alias(_) => return Err(Mistake::new(line, "aliases (`*name`) are not read")),
            _ => return Err(Mistake::new(line, "this is not YAML: a value is missing")),
        };
        Ok(Value { line, kind })
    }

    fn members(&mut self, line: usize) -> Result<Kind, Mistake> {
        let mut members = Vec::new();
        loop {
            let (event, span) = self.expect(line)?;
            if event == Event::MappingEnd {
                return Ok(Kind::Map(members));
            }
            let key = self.value(event, span)?;
            let Kind::Text(name) = key.kind else {
                return Err(Mistake::new(key.line, "this is no name of a field"));
            };
            let (event, span) = self.expect(key.line)?;
            let value = self.value(event, span)?;
            add_member(&mut members, name, value)?;
        }
    }
}

fn scalar(text: String, style: ScalarStyle) -> Kind {
    let is_null =
        style == ScalarStyle::Plain && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL");
    if is_null {
        Kind::Null
    } else {
        Kind::Text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Value {
        parse(text, 2).unwrap()
    }

    #[test]
    fn values_know_their_lines() {
        let value = parsed("name: a\ndescription: >\n  one\n  two\nlist: [x, 'y', 3,]\n");
        assert_eq!(value.get("name").unwrap().line, 2);
        let description = value.get("description").unwrap();
        assert_eq!(description.text("description").unwrap(), "one two\n");
        let list = value.get("list").unwrap();
        assert_eq!((list.line, list.texts("list").unwrap().len()), (6, 3));
    }

    #[test]
    fn json_within_yaml_is_read_with_its_trailing_commas() {
        let value = parsed("metadata:\n  {\n    \"a\": { \"b\": [\"c\", ], },\n  }\n");
        let list = value.get("metadata").unwrap().get("a").unwrap();
        let list = list.get("b").unwrap().texts("b").unwrap();
        assert_eq!(list, ["c"]);
    }

    #[test]
    fn nothing_is_null_and_quoted_nothing_is_a_text() {
        let value = parsed("a:\nb: ~\nc: ''\nd: 'null'\n");
        assert!(value.get("a").is_none() && value.get("b").is_none());
        assert_eq!(value.get("c").unwrap().text("c").unwrap(), "");
        assert_eq!(value.get("d").unwrap().text("d").unwrap(), "null");
    }

    #[test]
    fn an_alias_is_refused_before_it_can_grow() {
        let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for level in 1..30 {
            let before = format!("*a{}", level - 1);
            let row = vec![before; 10].join(",");
            bomb.push_str(&format!("a{level}: &a{level} [{row}]\n"));
        }
        let mistake = parse(&bomb, 1).unwrap_err();
        assert_eq!(mistake.line, 2);
        assert!(mistake.message.contains("aliases"), "{mistake:?}");
    }

    #[test]
    fn what_is_nested_too_deeply_is_refused() {
        for text in [
            "[".repeat(10_000),
            "{a: ".repeat(10_000),
            "- ".repeat(10_000),
            (0..1000)
                .map(|depth| format!("{}a:\n", " ".repeat(depth)))
                .collect(),
        ] {
            assert!(parse(&text, 1).is_err());
        }
    }

    #[test]
    fn a_key_that_stands_twice_and_too_many_values_are_mistakes() {
        let mistake = parse("a: 1\nb: 2\na: 3\n", 2).unwrap_err();
        assert_eq!(
            (mistake.line, &*mistake.message),
            (4, "`a` stands here twice")
        );
        let many = format!("[{}]", "x,".repeat(6_000));
        assert!(parse(&many, 1).unwrap_err().message.contains("more than"));
    }
}
