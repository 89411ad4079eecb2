//! What holds for every text.

use openclaw_content::{
    Base64, Excerpt, Framer, Media, MediaKind, Origin, definition_text, description, note,
    shown_line, shown_text, title,
};
use proptest::prelude::*;

use crate::{body, framed};

/// Characters that something in the pipeline treats in a way of its own.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[<>\\[\\]|/\\u{1b}\\u{9b}\\u{9d}\\u{7}\\r\\n\\\\ a-zE_=\"«»\\u{301}\\u{200b}\\u{e0041}]{0,80}",
    ]
}

/// Text without brackets, control characters and invisible ones.
const ORDINARY: &str = "[a-zA-Z0-9 .,;:!?(){}'\"/|_=+*&%$#@~^\\\\\n\täöüßéа-яА-ЯёΑ-Ωα-ωא-ת一-龥ぁ-んァ-ヶ가-힣🎉🙂-]{0,200}";

proptest! {
    #[test]
    fn a_frame_has_one_beginning_and_one_end_with_the_same_id(
        text in text(), server in text(), tool in text(), id in any::<[u8; 8]>(), bytes in 0_usize..200, offset in 0_usize..200,
    ) {
        let framer = Framer::with_randomness(move || id);
        let origin = Origin::new(&server, &tool);
        let excerpt = Excerpt::new(bytes).from_offset(offset).stored_as(&tool);
        let hex = format!("{:016x}", u64::from_be_bytes(id));
        for framed in [framer.frame(&origin, &text, &excerpt), framer.frame_error(&origin, &text, &excerpt)] {
            let shown = framed.text.as_str();
            prop_assert_eq!(shown.matches("EXTERNAL_UNTRUSTED_CONTENT").count(), 2);
            let start = format!("<<<EXTERNAL_UNTRUSTED_CONTENT id=\"{hex}\">>>\nSource: MCP Server\nFrom: ");
            let end = format!("\n<<<END_EXTERNAL_UNTRUSTED_CONTENT id=\"{hex}\">>>");
            prop_assert_eq!(shown.matches(&start).count(), 1);
            prop_assert!(shown.ends_with(&end));
            prop_assert!(!shown.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\t')));
        }
    }

    #[test]
    fn our_own_lines_stay_as_many_as_they_are(text in text(), other in text()) {
        let origin = Origin::new(&text, &other);
        let framed = Framer::new().frame(&origin, "x", &Excerpt::default());
        prop_assert_eq!(framed.text.as_str().lines().count(), 7);
        prop_assert_eq!(framed.text.as_str().matches('\'').count(), 2);
        prop_assert_eq!(note("{} and {}", &[&text, &other]).as_str().lines().count(), 1);
        prop_assert_eq!(title(&text, &other).text.as_str().lines().count(), 1);
    }

    #[test]
    fn ordinary_text_passes_unchanged(text in ORDINARY) {
        let framed = framed(&text);
        prop_assert_eq!(body(&framed), text);
    }

    #[test]
    fn excerpts_one_behind_the_other_are_the_whole(text in text(), bytes in 0_usize..20) {
        let mut read = String::new();
        while read.len() < text.len() {
            let Some(cut) = Excerpt::new(bytes).from_offset(read.len()).cut(&text) else {
                read.push_str(&text[read.len()..]);
                break;
            };
            prop_assert_eq!(cut.start, read.len());
            prop_assert!(cut.end > cut.start && cut.end - cut.start <= bytes.max(4));
            read.push_str(&text[cut.start..cut.end]);
        }
        prop_assert_eq!(read, text);
    }

    #[test]
    fn definitions_are_bounded_and_headed(server in text(), text in text(), bytes in 0_usize..50) {
        prop_assert!(description(&server, &text).text.as_str().starts_with("[MCP server: "));
        // A token of three bytes is replaced by twenty-three.
        prop_assert!(definition_text(&text, bytes).text.len() <= bytes * 8 + 3);
    }

    #[test]
    fn people_see_no_controls(text in text(), limit in 0_usize..40) {
        let line = shown_line(&text, limit);
        prop_assert!(!line.chars().any(char::is_control));
        prop_assert!(line.chars().count() <= limit + 1);
        let shown = shown_text(&text).into_owned();
        prop_assert!(!shown.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\t')));
        prop_assert_eq!(shown_text(&shown), shown.clone());
    }

    #[test]
    fn arbitrary_media_do_no_harm(bytes in any::<Vec<u8>>(), text in text()) {
        let _ = MediaKind::sniff(&bytes);
        let _ = Media::from_bytes(&text, &bytes).media_type().len();
        if let Ok(checked) = Base64::check(&text) {
            prop_assert_eq!(checked.decode().len(), checked.decoded_len());
        }
    }
}
