//! What holds for whatever is heard.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

use super::super::super::covered::bare;
use super::*;

/// Something that is heard.
#[derive(Clone, Debug)]
enum Heard {
    Block(String),
    Result(Vec<String>),
    Note(String),
    Image(usize),
    Last(String),
}

impl Heard {
    fn event(&self) -> ReplyEvent {
        match self {
            Self::Block(text) => block(text),
            Self::Result(insides) => {
                let frames: Vec<String> = insides.iter().map(|inside| framed(inside)).collect();
                result(&frames.join("\n"))
            }
            Self::Note(text) => result(text),
            Self::Image(bytes) => image(*bytes),
            Self::Last(text) => last(text),
        }
    }
}

/// Short texts that often stand in each other, and words that stand in frames, too.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ab \n\u{2003}]{0,6}",
        1 => Just("MCP Server".to_owned()),
        1 => Just("From: files/\nread".to_owned()),
    ]
}

fn anything() -> impl Strategy<Value = Heard> {
    prop_oneof![
        text().prop_map(Heard::Block),
        prop::collection::vec(text(), 1..3).prop_map(Heard::Result),
        text().prop_map(Heard::Note),
        (9..40_usize).prop_map(Heard::Image),
        text().prop_map(Heard::Last),
    ]
}

fn turn() -> impl Strategy<Value = Vec<Heard>> {
    prop::collection::vec(anything(), 0..12)
}

fn texts(pieces: &[Piece]) -> Vec<(bool, String)> {
    let said = pieces.iter().filter_map(|piece| match piece {
        Piece::Said(said) => Some((said.voice == Voice::Agent, bare(&said.text))),
        _ => None,
    });
    said.collect()
}

fn is_subsequence(some: &[Piece], all: &[Piece]) -> bool {
    let mut all = all.iter();
    some.iter().all(|piece| all.any(|it| it == piece))
}

proptest! {
    #[test]
    fn nothing_that_was_said_is_lost(turn in turn()) {
        let parts = heard(turn.iter().map(Heard::event)).complete(&report(""));
        let all = bare(&shown(&parts).join("\n"));
        for heard in &turn {
            match heard {
                Heard::Block(text) | Heard::Note(text) | Heard::Last(text) => {
                    prop_assert!(all.contains(&bare(text)), "{:?} is not in {}", text, all);
                }
                Heard::Result(insides) => for inside in insides {
                    prop_assert!(all.contains(&bare(inside)), "{:?} is not in {}", inside, all);
                },
                Heard::Image(_) => {}
            }
        }
    }

    #[test]
    fn what_is_kept_stays_in_order_and_is_needed(turn in turn()) {
        let pieces = heard(turn.iter().map(Heard::event)).pieces;
        let kept = uncovered(pieces.clone());
        prop_assert!(is_subsequence(&kept, &pieces));
        let said = texts(&kept);
        for (at, (_, text)) in said.iter().enumerate() {
            prop_assert!(!text.is_empty());
            for (is_agent, later) in &said[at + 1..] {
                prop_assert!(!is_agent || later != text, "{} is said again", text);
            }
        }
        // Once more changes nothing.
        prop_assert_eq!(uncovered(kept.clone()), kept);
    }

    #[test]
    fn a_result_stays_framed_unless_the_agent_repeats_it(turn in turn()) {
        let pieces = heard(turn.iter().map(Heard::event)).pieces;
        let kept = uncovered(pieces.clone());
        for (at, piece) in pieces.iter().enumerate() {
            let Piece::Said(said) = piece else { continue };
            let std::borrow::Cow::Owned(inside) = openclaw_content::unframed(&said.text) else {
                continue;
            };
            let later = texts(&pieces[at + 1..]);
            let is_repeated = later.iter().any(|(is_agent, text)| {
                *is_agent && text.contains(&bare(&inside))
            });
            prop_assert!(is_repeated || kept.contains(piece), "{:?} is missing", said);
        }
    }

    #[test]
    fn media_are_all_there_in_their_order_or_named(
        turn in turn(),
        item in 9..40_usize,
        reply in 4000..6000_usize,
        texts in prop_oneof![Just(16 * MEGABYTE), 200..400_usize],
    ) {
        let limits = Limits { item, reply, texts, ..Limits::default() };
        let parts = gathered(limits, turn.iter().map(Heard::event)).complete(&report(""));
        let mut sizes = turn.iter().filter_map(|heard| match heard {
            Heard::Image(bytes) => Some(*bytes),
            _ => None,
        });
        for part in shown_in_order(&parts) {
            prop_assert_eq!(Some(part), sizes.next());
        }
        prop_assert_eq!(sizes.next(), None);
    }
}

/// The sizes of images, those that are named included.
fn shown_in_order(parts: &[OutPart]) -> Vec<usize> {
    let mut sizes = Vec::new();
    for part in parts {
        match part {
            OutPart::Image { data, .. } => sizes.push(STANDARD.decode(&**data).unwrap().len()),
            OutPart::Text(text) => {
                let named = text.split("[left out: image/png, ").skip(1);
                sizes.extend(named.map(|rest| {
                    let (number, _) = rest.split_once(" bytes").unwrap();
                    number.parse::<usize>().unwrap()
                }));
            }
            OutPart::Audio { .. } | OutPart::Resource { .. } => unreachable!(),
        }
    }
    sizes
}
