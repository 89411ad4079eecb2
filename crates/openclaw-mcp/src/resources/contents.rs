//! What is in a resource, as far as it is kept.

use openclaw_content::Base64;
use openclaw_mcp_client::{Embedded, ResourceContents};
use openclaw_secrets::Redactor;

use crate::redaction::hide_embedded;

/// How much of a text is kept: nobody is given more of one beside a message.
pub(super) const MOST_BYTES: usize = 1_000_000;

/// What is in a resource: its text, and what it holds beside text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    /// The beginning of its text.
    pub(super) text: String,
    /// How many bytes the text has.
    pub(super) total: usize,
    /// What is no text: its media type in the server's words, and how many bytes it has.
    pub(super) binary: Vec<(String, usize)>,
}

impl Contents {
    /// Takes out what is needed, and hides our credentials in it.
    pub(super) fn of(read: ResourceContents, uri: &str, redactor: &Redactor) -> Self {
        let mut contents = Self::default();
        let parts = read.contents.len();
        for mut part in read.contents {
            hide_embedded(&mut part, redactor);
            contents.add(part, uri, parts > 1);
        }
        contents.text.shrink_to_fit();
        contents
    }

    fn add(&mut self, part: Embedded, uri: &str, is_one_of_many: bool) {
        if let Some(blob) = &part.blob {
            let bytes = Base64::check(blob).map_or(0, |it| it.decoded_len());
            self.binary
                .push((part.mime_type.unwrap_or_default(), bytes));
        }
        let Some(text) = part.text else {
            return;
        };
        if is_one_of_many && part.uri != uri {
            self.push(&format!("[resource: {}]\n", part.uri));
        }
        self.push(&text);
        if is_one_of_many && !text.ends_with('\n') {
            self.push("\n");
        }
    }

    fn push(&mut self, text: &str) {
        // Once something is left out, nothing that follows may close the gap.
        if self.total == self.text.len() {
            let room = MOST_BYTES - self.text.len();
            let beginning = text.get(..text.floor_char_boundary(room));
            self.text.push_str(beginning.unwrap_or_default());
        }
        self.total = self.total.saturating_add(text.len());
    }

    /// How many bytes keeping it takes.
    pub(super) fn bytes(&self) -> usize {
        let binary = self.binary.iter().map(|(kind, _)| kind.len() + 32);
        self.text.len() + binary.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(uri: &str, text: Option<&str>, blob: Option<&str>) -> Embedded {
        Embedded {
            uri: uri.to_owned(),
            mime_type: blob.map(|_| "image/png".to_owned()),
            text: text.map(str::to_owned),
            blob: blob.map(str::to_owned),
        }
    }

    fn contents(parts: Vec<Embedded>) -> Contents {
        let read = ResourceContents {
            contents: parts,
            missing: 0,
        };
        Contents::of(read, "a://b", &Redactor::new())
    }

    #[test]
    fn parts_are_put_together_and_binary_ones_are_counted() {
        let one = contents(vec![part("a://b", Some("text"), None)]);
        assert_eq!((one.text.as_str(), one.total), ("text", 4));
        let many = contents(vec![
            part("a://b", Some("one"), None),
            part("a://b/c", Some("two\n"), None),
            part("a://b/d", None, Some("AAAA")),
        ]);
        assert_eq!(many.text, "one\n[resource: a://b/c]\ntwo\n");
        assert_eq!(many.binary, [("image/png".to_owned(), 3)]);
    }

    #[test]
    fn only_the_beginning_of_a_long_text_is_kept() {
        let long = "ä".repeat(600_000);
        let contents = contents(vec![
            part("a://b", Some(&long), None),
            part("a://b", Some("the end"), None),
        ]);
        assert_eq!(contents.text.len(), MOST_BYTES);
        assert!(contents.total > 1_200_000 && contents.text.ends_with('ä'));
    }
}
