//! Texts that later ones make needless.
//!
//! White space aside, always: models break lines as they like.

use std::borrow::Cow;

use openclaw_content::unframed;

use super::piece::{Piece, Voice};
use super::places::last_places;

/// What stands between texts that are searched together; in none of them, for they are UTF-8.
const BETWEEN: u8 = 0xff;

/// The pieces without texts that are blank or that the agent says again later: a later text of its has
/// them, from the beginning of a word to the end of one. A tool's result also goes where the agent repeats
/// what stands in its frames. What a tool says makes no word of the agent needless.
pub(super) fn uncovered(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut spoken = Pile::default();
    let mut sought = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let Piece::Said(said) = piece else { continue };
        let is_agent = said.voice == Voice::Agent;
        if is_agent {
            spoken.add(&said.text);
        }
        let after = spoken.bytes.len();
        sought.push(Sought {
            index,
            text: bare(&said.text),
            after,
        });
        if matches!(said.voice, Voice::Tool { .. })
            && let Cow::Owned(inside) = unframed(&said.text)
        {
            sought.push(Sought {
                index,
                text: bare(&inside),
                after,
            });
        }
    }
    let texts: Vec<&[u8]> = sought.iter().map(|it| it.text.as_bytes()).collect();
    let is_whole = |begin, end| spoken.is_whole(begin, end);
    let places = last_places(&texts, &spoken.bytes, is_whole);
    let mut covered = vec![false; pieces.len()];
    for (sought, place) in sought.iter().zip(places) {
        let is_covered = if sought.text.is_empty() {
            // Blank, or a frame around nothing after which the agent goes on.
            let is_frame = pieces.get(sought.index).is_some_and(is_framed);
            !is_frame || spoken.bytes.len() > sought.after
        } else {
            place.is_some_and(|place| place >= sought.after)
        };
        if is_covered && let Some(covered) = covered.get_mut(sought.index) {
            *covered = true;
        }
    }
    let pieces = pieces.into_iter().zip(covered);
    pieces
        .filter(|(_, is_covered)| !is_covered)
        .map(|(piece, _)| piece)
        .collect()
}

/// Whether a piece says something, if only by its frame.
fn is_framed(piece: &Piece) -> bool {
    matches!(piece, Piece::Said(said) if !said.text.trim().is_empty())
}

/// A text that is looked for in what the agent says later.
struct Sought {
    /// Whose it is.
    index: usize,
    text: String,
    /// How much the agent had said then.
    after: usize,
}

/// Texts behind each other, without white space, and where words begin and end in them.
#[derive(Default)]
struct Pile {
    bytes: Vec<u8>,
    /// Whether a word may begin at a byte, or end before it.
    borders: Vec<bool>,
}

impl Pile {
    fn add(&mut self, text: &str) {
        let mut before = ' ';
        let mut buffer = [0; 4];
        for character in text.chars() {
            if !character.is_whitespace() {
                let is_inside = before.is_alphanumeric() && character.is_alphanumeric();
                let bytes = character.encode_utf8(&mut buffer).as_bytes();
                self.bytes.extend_from_slice(bytes);
                self.borders.push(!is_inside);
                self.borders.resize(self.bytes.len(), false);
            }
            before = character;
        }
        self.bytes.push(BETWEEN);
        self.borders.push(true);
    }

    fn is_whole(&self, begin: usize, end: usize) -> bool {
        let is_border = |at: usize| self.borders.get(at).copied().unwrap_or(true);
        is_border(begin) && is_border(end)
    }
}

/// A text without white space.
pub(super) fn bare(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    bare.extend(text.split_whitespace());
    bare
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use openclaw_content::{Excerpt, Framer, Origin};

    use super::super::piece::Said;
    use super::*;

    fn agent(text: &str) -> Piece {
        let (voice, text) = (Voice::Agent, text.to_owned());
        Piece::Said(Said { voice, text })
    }

    fn tool(text: impl Into<String>) -> Piece {
        let name = "read".to_owned();
        let (voice, text) = (Voice::Tool { name }, text.into());
        Piece::Said(Said { voice, text })
    }

    fn framed(text: &str) -> Piece {
        let origin = Origin::new("files", "read");
        let framed = Framer::new().frame(&origin, text, &Excerpt::default());
        tool(framed.text.into_string())
    }

    /// Which pieces stay, by their places.
    fn stays(pieces: &[Piece]) -> Vec<usize> {
        let kept = uncovered(pieces.to_vec());
        let mut places = Vec::new();
        let mut at = 0;
        for piece in &kept {
            at += pieces[at..].iter().position(|it| it == piece).unwrap();
            places.push(at);
            at += 1;
        }
        places
    }

    #[test]
    fn a_text_that_stands_in_a_later_one_goes() {
        let texts = [
            "I look.",
            "Found:\n\n a  b",
            "I look. Found: a b\u{2003}c",
            "I look. F",
        ];
        assert_eq!(stays(&texts.map(agent)), [2, 3]);
    }

    #[test]
    fn of_equal_texts_the_last_stays() {
        let texts = ["same", "other", "sa me\n", " \t\u{a0}"];
        assert_eq!(stays(&texts.map(agent)), [1, 2]);
    }

    #[test]
    fn no_text_is_found_across_two() {
        assert_eq!(stays(&["ab", "a", "b"].map(agent)), [0, 1, 2]);
    }

    #[test]
    fn a_result_goes_where_the_agent_repeats_it_later() {
        let result = || framed("Created #7.");
        assert_eq!(stays(&[result(), agent("It says: Created  #7.")]), [1]);
        assert_eq!(stays(&[agent("Created #7. It is."), result()]), [0, 1]);
        assert_eq!(stays(&[result(), agent("It worked.")]), [0, 1]);
        // Another result says the same, in a frame of its own: that is no word of the agent.
        assert_eq!(stays(&[result(), result()]), [0, 1]);
    }

    #[test]
    fn an_empty_result_goes_where_the_agent_goes_on() {
        assert_eq!(stays(&[framed(""), agent("Done.")]), [1]);
        assert_eq!(stays(&[agent("I look."), framed(" ")]), [0, 1]);
    }

    #[test]
    fn what_stands_only_in_the_frame_of_a_result_that_goes_stays() {
        let pieces = [
            agent("MCP Server"),
            framed("inside"),
            agent("It says inside."),
        ];
        assert_eq!(stays(&pieces), [0, 2]);
    }

    #[test]
    fn no_word_of_the_agent_goes_for_what_a_tool_says() {
        let warning = "WARNING: do not trust what this server says.";
        let pieces = [agent(warning), framed(warning), agent("Done.")];
        assert_eq!(stays(&pieces), [0, 1, 2]);
        assert_eq!(
            stays(&[agent("no"), framed("x"), agent("Done.")]),
            [0, 1, 2]
        );
    }

    #[test]
    fn words_are_found_whole() {
        assert_eq!(stays(&["No", "Nothing was found."].map(agent)), [0, 1]);
        assert_eq!(stays(&["No", "I said: no. No!"].map(agent)), [1]);
        assert_eq!(stays(&["one two", "one\ntwo three"].map(agent)), [1]);
        assert_eq!(stays(&["one two", "one two\u{e9}"].map(agent)), [0, 1]);
        assert_eq!(stays(&[framed("ok"), agent("It looks okay.")]), [0, 1]);
    }

    #[test]
    fn a_result_without_a_frame_is_a_text_like_others() {
        let pieces = [
            tool("The tool is denied."),
            agent("No: the tool is denied."),
        ];
        assert_eq!(stays(&pieces), [0, 1]);
        let pieces = [tool("is denied."), agent("The tool is denied.")];
        assert_eq!(stays(&pieces), [1]);
    }

    /// Results that are much alike, and the last text has one of them.
    fn many(count: usize, piece: fn(&str) -> Piece) -> Vec<Piece> {
        let text = |number: usize| {
            let line = |line| format!("{{\"number\": {number}, \"line\": {line}, \"ok\": true}}\n");
            (0..50).map(line).collect::<String>()
        };
        let mut pieces: Vec<Piece> = (0..count).map(|number| piece(&text(number))).collect();
        pieces.push(agent(&text(count / 2)));
        pieces
    }

    fn time(pieces: &[Piece]) -> Duration {
        let once = || {
            let again = pieces.to_vec();
            let begun = Instant::now();
            assert_eq!(uncovered(again).len(), pieces.len() - 1);
            begun.elapsed()
        };
        (0..3).map(|_| once()).min().unwrap_or_default()
    }

    #[test]
    fn many_texts_take_time_in_proportion_to_their_length() {
        for piece in [agent as fn(&str) -> Piece, framed] {
            let (few, more) = (time(&many(150, piece)), time(&many(1200, piece)));
            // Eight times as much takes eight times as long, not sixty-four times.
            assert!(more < few * 32, "{few:?}, then {more:?}");
        }
    }
}
