//! What a tool said, without the frames, which are for models that could be misled.

use openclaw_conversation::{AnswerPart, Media, ToolAnswer};

const BEGIN: &str = "<<<EXTERNAL_UNTRUSTED_CONTENT id=\"";
const END: &str = "<<<END_EXTERNAL_UNTRUSTED_CONTENT id=\"";
const CLOSE: &str = "\">>>";
/// How many digits the identifier of a frame has.
const ID: usize = 16;
/// With which a line of the frame begins that says that not all is shown.
const CUT: &str = "Shown: ";

/// What an answer says to a person: its texts, and which media came with them.
pub(super) fn said(answer: &ToolAnswer) -> String {
    let mut texts = Vec::new();
    for (at, part) in answer.parts.iter().enumerate() {
        match part {
            AnswerPart::Text { text } => {
                let follows = answer.parts.get(at + 1);
                let is_note =
                    matches!(follows, Some(AnswerPart::Media(_))) && !text.as_str().contains(BEGIN);
                // The note before a piece of media tells models to be careful with it.
                if !is_note {
                    texts.push(unframed(text.as_str()));
                }
            }
            AnswerPart::Media(media) => texts.push(named(media)),
        }
    }
    texts.retain(|text| !text.trim().is_empty());
    texts.join("\n\n")
}

fn named(media: &Media) -> String {
    let kind = openclaw_content::shown_line(&media.mime_type, 100);
    format!("[{kind}, {} bytes]", media.bytes)
}

/// A text without the lines of its frames.
pub(super) fn unframed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, frame, after)) = next_frame(rest) {
        out.push_str(before);
        let (head, inner) = frame.split_once("---\n").unwrap_or(("", frame));
        out.push_str(inner.strip_suffix('\n').unwrap_or(inner));
        if let Some(cut) = head.lines().find(|line| line.starts_with(CUT)) {
            out.push_str("\n[");
            out.push_str(cut);
            out.push(']');
        }
        rest = after;
    }
    out.push_str(rest);
    out
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
    use openclaw_content::{Excerpt, Framer, Origin};
    use proptest::prelude::*;

    use super::*;

    fn framed(text: &str, excerpt: &Excerpt<'_>) -> String {
        let origin = Origin::new("files", "read");
        Framer::new()
            .frame(&origin, text, excerpt)
            .text
            .into_string()
    }

    #[test]
    fn a_cut_text_says_so() {
        let text = unframed(&framed("abcdef", &Excerpt::new(3).stored_as("r1")));
        let rest = "; read on with mcp_read_result {\"id\": \"r1\", \"offset\": 3}";
        assert_eq!(text, format!("abc\n[Shown: bytes 0 to 3 of 6{rest}]"));
    }

    #[test]
    fn an_error_keeps_what_stands_before_the_frame() {
        let origin = Origin::new("files", "read");
        let error = Framer::new().frame_error(&origin, "no such file", &Excerpt::default());
        let text = unframed(error.text.as_str());
        assert_eq!(text, "MCP tool error (files/read): \nno such file");
    }

    proptest! {
        #[test]
        fn what_is_inside_comes_out(texts in prop::collection::vec("[a-z\n\"-]{0,30}", 1..4)) {
            let all = texts.iter().map(|text| framed(text, &Excerpt::default()));
            let all: Vec<String> = all.collect();
            prop_assert_eq!(unframed(&all.join("\n")), texts.join("\n"));
        }

        #[test]
        fn no_text_breaks_it(text in ".{0,60}") {
            let forged = format!("{BEGIN}0123456789abcdef{CLOSE}\n{text}{END}");
            let _ = unframed(&forged);
            prop_assert_eq!(unframed(&text), text);
        }
    }
}
