//! Framed text without its frames, for whoever can't be misled by it.

use std::borrow::Cow;

use crate::frame::{BEGIN, CLOSE, CUT, END, RULE};

/// How many digits the identifier of a frame has.
const ID: usize = 16;

/// A text without the lines of its frames; as it is, if there is no whole frame in it.
///
/// What a frame says about a cut stays, in brackets behind what it is about.
///
/// ```
/// use openclaw_content::{Excerpt, Framer, Origin, unframed};
///
/// let origin = Origin::new("github", "create_issue");
/// let framed = Framer::new().frame(&origin, "Created #7.", &Excerpt::default());
/// assert_eq!(unframed(framed.text.as_str()), "Created #7.");
/// ```
pub fn unframed(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, frame, after)) = next_frame(rest) {
        out.reserve(rest.len());
        out.push_str(before);
        let (head, inner) = frame.split_once(RULE).unwrap_or(("", frame));
        out.push_str(inner.strip_suffix('\n').unwrap_or(inner));
        if let Some(cut) = head.lines().find(|line| line.starts_with(CUT)) {
            out.push_str("\n[");
            out.push_str(cut);
            out.push(']');
        }
        rest = after;
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A text in parts that each end with a frame; what stands behind the last frame is a part of its own.
///
/// Nothing is lost: put behind each other again, the parts are the text.
pub fn frame_by_frame(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let behind = next_frame(rest).map_or("", |(_, _, after)| after);
        let (part, after) = rest.split_at(rest.len() - behind.len());
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

/// What stands before, in and behind the next whole frame.
fn next_frame(text: &str) -> Option<(&str, &str, &str)> {
    let (before, begun) = text.split_once(BEGIN)?;
    let id = begun.get(..ID)?;
    let frame = begun.get(ID..)?.strip_prefix(CLOSE)?.strip_prefix('\n')?;
    let (frame, after) = frame.split_once(&format!("{END}{id}{CLOSE}"))?;
    Some((before, frame, after))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Excerpt, Framer, Origin};

    fn framed_as(item: &str, text: &str, excerpt: &Excerpt<'_>) -> String {
        let origin = Origin::new("files", item);
        Framer::new()
            .frame(&origin, text, excerpt)
            .text
            .into_string()
    }

    fn framed(text: &str, excerpt: &Excerpt<'_>) -> String {
        framed_as("read", text, excerpt)
    }

    #[test]
    fn a_cut_text_says_so() {
        let text = framed("abcdef", &Excerpt::new(3).stored_as("r1"));
        let rest = "; read on with mcp_read_result {\"id\": \"r1\", \"offset\": 3}";
        assert_eq!(
            unframed(&text),
            format!("abc\n[Shown: bytes 0 to 3 of 6{rest}]")
        );
    }

    #[test]
    fn an_error_keeps_what_stands_before_the_frame() {
        let origin = Origin::new("files", "read");
        let error = Framer::new().frame_error(&origin, "no such file", &Excerpt::default());
        let text = unframed(error.text.as_str());
        assert_eq!(text, "MCP tool error (files/read): \nno such file");
    }

    #[test]
    fn a_name_that_ends_like_the_heading_does_not_end_it() {
        let text = framed_as("read---", "inside\n---\nstill", &Excerpt::default());
        assert_eq!(unframed(&text), "inside\n---\nstill");
    }

    #[test]
    fn a_text_without_a_whole_frame_is_not_copied() {
        let begun = framed("abc", &Excerpt::default());
        let begun = begun.get(..begun.len() - 1).unwrap();
        for text in ["", "our own words", begun] {
            assert!(matches!(unframed(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn each_frame_is_a_part_with_what_stands_before_it() {
        let (one, two) = (
            framed("one", &Excerpt::default()),
            framed("two", &Excerpt::default()),
        );
        let text = format!("Error: \n{one}\n{two}\nA note.");
        let parts: Vec<&str> = frame_by_frame(&text).collect();
        let expected = [
            format!("Error: \n{one}"),
            format!("\n{two}"),
            "\nA note.".to_owned(),
        ];
        assert_eq!(parts, expected);
        assert_eq!(frame_by_frame("our own").collect::<Vec<_>>(), ["our own"]);
        assert_eq!(frame_by_frame("").count(), 0);
    }

    proptest! {
        #[test]
        fn what_is_inside_comes_out(texts in prop::collection::vec("[a-z\n\"-]{0,30}", 1..4)) {
            let all = texts.iter().map(|text| framed(text, &Excerpt::default()));
            let all: Vec<String> = all.collect();
            let all = all.join("\n");
            prop_assert_eq!(unframed(&all), texts.join("\n"));
            prop_assert_eq!(frame_by_frame(&all).collect::<String>(), all.as_str());
            prop_assert_eq!(frame_by_frame(&all).count(), texts.len());
        }

        #[test]
        fn no_text_breaks_it(text in ".{0,60}") {
            let forged = format!("{BEGIN}0123456789abcdef{CLOSE}\n{text}{END}");
            let _ = unframed(&forged);
            prop_assert_eq!(unframed(&text), text.as_str());
        }
    }
}
