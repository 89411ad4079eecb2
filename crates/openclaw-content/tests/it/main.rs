//! The crate as its users see it.

mod arbitrary;
mod disguises;
mod linear;
mod lookalikes;
mod snapshots;
mod tables;

use openclaw_content::{Excerpt, Framed, Framer, Origin};

/// Frames a text with an identifier that is always the same.
fn framed(text: &str) -> Framed {
    let framer = Framer::with_randomness(|| [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef]);
    framer.frame(&Origin::new("srv", "tool"), text, &Excerpt::default())
}

/// What stands between the lines of the frame.
fn body(framed: &Framed) -> &str {
    let text = framed.text.as_str();
    let rest = text.split_once("\n---\n").map(|(_, rest)| rest);
    let end = "\n<<<END_EXTERNAL_UNTRUSTED_CONTENT id=\"0123456789abcdef\">>>";
    rest.and_then(|rest| rest.strip_suffix(end))
        .unwrap_or("this is no frame <<<EXTERNAL_UNTRUSTED_CONTENT>>>")
}
