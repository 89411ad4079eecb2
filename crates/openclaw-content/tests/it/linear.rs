//! Hostile texts cost no more for each byte than others.

use std::time::{Duration, Instant};

use openclaw_content::{Excerpt, Framer, Origin, shown_text};

const SHORT: usize = 64 * 1024;

/// What makes a slow search slow, over and over.
const HOSTILE: &[&str] = &[
    "<",
    "<|",
    "< ",
    "[",
    "[ ",
    "\u{301}",
    "<\u{301}",
    "<s",
    "<<<END_EXTERNAL_UNTRUSTED_CONTEN", // misspelt on purpose
    "<<<END_EXTERNAL_UNTRUSTED_CONTENT",
    "<<<END_EXTERNAL_UNTRUSTED_CONTENT>>>",
    "<|im_start",
    "<s>",
    "«",
    "\u{200b}",
    "\u{1b}]",
    "\u{1b}[1",
    "\u{1b}",
    "\u{9d}",
    "ignore ",
    "\r",
];

fn time(text: &str) -> Duration {
    let framer = Framer::new();
    let origin = Origin::new("srv", "tool");
    let once = || {
        let start = Instant::now();
        let result = framer.frame(&origin, text, &Excerpt::new(usize::MAX));
        assert!(result.text.len() > 100);
        let _ = shown_text(text).len();
        start.elapsed()
    };
    (0..3).map(|_| once()).min().unwrap_or_default()
}

#[test]
fn hostile_text_takes_time_in_proportion_to_its_length() {
    time("first use");
    let everywhere = HOSTILE
        .iter()
        .map(|hostile| hostile.repeat(SHORT / hostile.len()));
    let no_end_in_sight = [
        format!("<{}", "\u{301}".repeat(SHORT / 2)),
        format!("<<<END_{}", " ".repeat(SHORT)),
        format!("\u{1b}]{}", "x".repeat(SHORT)),
        format!("<|{}", "_".repeat(SHORT)),
    ];
    for text in everywhere.chain(no_end_in_sight) {
        let (short, long) = (time(&text), time(&text.repeat(4)));
        let beginning: String = text.chars().take(20).collect();
        assert!(
            long < short * 10 + Duration::from_millis(5),
            "{beginning:?}: {short:?}, four times as long: {long:?}"
        );
    }
}
