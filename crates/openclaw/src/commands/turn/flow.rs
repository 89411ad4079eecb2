//! Text that arrives in pieces, shown as it comes.

use openclaw_content::shown_text;

/// How much is kept back at most: a longer sequence is none that a terminal knows.
const MOST: usize = 8 * 1024;

/// Makes a text that arrives in pieces fit for a terminal.
///
/// Wherever the pieces end, what comes out is what would come out of the whole: an escape sequence
/// is kept back until it is over, and a word until it is, since a credential may hide in it.
#[derive(Debug, Default)]
pub(super) struct Flow {
    held: String,
}

impl Flow {
    /// Takes the next piece, and gives what can be shown now.
    pub(super) fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let mut settled = settled(&self.held);
        if self.held.len() - settled > MOST {
            settled = self.held.len();
        }
        let rest = self.held.split_off(settled);
        let ready = std::mem::replace(&mut self.held, rest);
        shown_text(&ready).into_owned()
    }

    /// Gives what was kept back: nothing follows.
    pub(super) fn finish(&mut self) -> String {
        let rest = std::mem::take(&mut self.held);
        shown_text(&rest).into_owned()
    }

    /// Forgets what was kept back.
    pub(super) fn clear(&mut self) {
        self.held.clear();
    }
}

/// How many bytes of a text are the same whatever follows.
fn settled(text: &str) -> usize {
    // No sequence goes on behind the end of a line.
    let line = text.rfind('\n').map_or(0, |at| at + 1);
    let rest = text.get(line..).unwrap_or_default();
    let acts = |character: char| character.is_control() && character != '\t';
    let calm = rest.find(acts).map_or(rest, |at| &rest[..at]);
    // What is not ASCII is not part of a credential, and may be a script without spaces.
    let word_end = calm
        .char_indices()
        .rfind(|(_, character)| character.is_whitespace() || !character.is_ascii())
        .map_or(0, |(at, character)| at + character.len_utf8());
    line + word_end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn flowed<'p>(pieces: impl IntoIterator<Item = &'p str>) -> Vec<String> {
        let mut flow = Flow::default();
        let mut shown: Vec<String> = pieces.into_iter().map(|piece| flow.push(piece)).collect();
        shown.push(flow.finish());
        shown
    }

    #[test]
    fn words_come_when_they_are_over_and_other_scripts_at_once() {
        assert_eq!(flowed(["He", "llo wor", "ld"]), ["", "Hello ", "", "world"]);
        assert_eq!(flowed(["日", "本"]), ["日", "本", ""]);
        assert_eq!(flowed(["one\ntw", "o\n"]), ["one\n", "two\n", ""]);
    }

    #[test]
    fn a_sequence_that_is_split_does_no_harm() {
        let shown = flowed(["a \u{1b}", "]0;ti", "tle\u{7}b \u{9b}", "2Jc\n", "d"]).concat();
        assert_eq!(shown, "a b c\nd");
    }

    #[test]
    fn a_sequence_without_an_end_is_not_kept_for_ever() {
        let long = "x".repeat(3 * MOST);
        let mut flow = Flow::default();
        assert_eq!(flow.push("\u{1b}]0;"), "");
        assert!(flow.push(&long).ends_with("xx"));
        assert!(flow.held.is_empty());
    }

    proptest! {
        #[test]
        fn pieces_are_shown_as_the_whole_would_be(
            pieces in proptest::collection::vec("[a \\r\\n\\t\\x1b\\x07\\x9b\\x9d\\x9c\\[\\];0m\\\\é日\u{202e}]{0,6}", 0..12)
        ) {
            let whole = pieces.concat();
            let shown = flowed(pieces.iter().map(String::as_str)).concat();
            prop_assert_eq!(shown, shown_text(&whole));
        }
    }
}
