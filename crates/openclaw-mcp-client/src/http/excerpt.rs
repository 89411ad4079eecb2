//! The beginning of a text that a server sent, fit to be shown in one line.

use crate::text::is_shown;

/// The longest excerpt, in characters.
const LONGEST: usize = 200;

/// Elements whose text is not for people.
const HIDDEN: [&str; 2] = ["script", "style"];

/// Returns the beginning of a text, without markup, control characters and line breaks.
pub(super) fn excerpt(content_type: &str, body: &[u8]) -> String {
    // A character more than can be shown takes at most four bytes, but markup takes any number.
    let text = String::from_utf8_lossy(body);
    if content_type.contains("html") || content_type.contains("xml") {
        one_line(&without_tags(&text))
    } else {
        one_line(&text)
    }
}

/// Makes one line of a text that somebody else wrote, short and harmless.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split(|character: char| character.is_whitespace()) {
        let visible = word.chars().filter(|character| is_shown(*character));
        let mut first = true;
        for character in visible {
            if length >= LONGEST - 1 {
                line.push('…');
                return line;
            }
            if first && !line.is_empty() {
                line.push(' ');
                length += 1;
            }
            first = false;
            line.push(character);
            length += 1;
        }
    }
    line
}

/// Replaces every tag by a space, and the elements that hold no text with all that is in them.
fn without_tags(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        shown.push_str(&rest[..start]);
        shown.push(' ');
        let tag = &rest[start + 1..];
        rest = match hidden_element(tag) {
            Some(element) => after(tag, &format!("</{element}")).unwrap_or_default(),
            None => tag,
        };
        rest = rest.split_once('>').map_or("", |(_, after)| after);
    }
    shown.push_str(rest);
    shown
}

fn hidden_element(tag: &str) -> Option<&'static str> {
    HIDDEN.into_iter().find(|element| {
        tag.get(..element.len())
            .is_some_and(|name| name.eq_ignore_ascii_case(element))
    })
}

fn after<'a>(text: &'a str, wanted: &str) -> Option<&'a str> {
    let position = text
        .as_bytes()
        .windows(wanted.len())
        .position(|window| window.eq_ignore_ascii_case(wanted.as_bytes()))?;
    text.get(position + wanted.len()..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_scripts_are_left_out() {
        let page = "<!DOCTYPE html><HTML><head><title>404 Not\nFound</title><style>p{}</style>\
                    <script>if (a<b) alert('>')</script></head><body><p>nginx</p></body>";
        assert_eq!(excerpt("text/html", page.as_bytes()), "404 Not Found nginx");
        assert_eq!(excerpt("text/html", b"cut <scr"), "cut");
        assert_eq!(excerpt("text/html", b"cut <script>never"), "cut");
        assert_eq!(excerpt("text/plain", b"a < b"), "a < b");
    }

    #[test]
    fn a_terminal_is_not_harmed() {
        let text = "\u{1b}[31mred\u{7}\r\n\u{202e}evil\u{200b}\0";
        assert_eq!(excerpt("text/plain", text.as_bytes()), "[31mred evil");
        assert_eq!(excerpt("text/plain", b"\xff\xfe"), "\u{fffd}\u{fffd}");
        let invisible = "a\u{9b}b\u{2066}c\u{200d}d\u{180e}e\u{e0041}f\u{3164}g\u{2029}h";
        assert_eq!(one_line(invisible), "abcdefg h");
    }

    #[test]
    fn long_texts_are_cut() {
        let long = excerpt("text/plain", "ä ".repeat(500).as_bytes());
        assert!(long.chars().count() <= LONGEST, "{}", long.chars().count());
        assert!(long.ends_with('…'));
        let exact = "x".repeat(LONGEST - 1);
        assert_eq!(excerpt("text/plain", exact.as_bytes()), exact);
    }
}
