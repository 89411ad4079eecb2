//! What fits into a reply, joined.

use super::left_out::{LeftOut, Why};
use super::media::HeldMedia;
use super::names::Names;
use super::piece::Piece;
use super::{Limits, OutPart};

/// What stands between texts that follow each other.
const GAP: &str = "\n\n";

/// The parts of a reply. Media that don't fit beside so many bytes and all texts are named at their
/// place.
pub(super) fn fitted(pieces: Vec<Piece>, limits: &Limits, beside: usize) -> Vec<OutPart> {
    let limit = limits.reply;
    let items: Vec<Item> = pieces.into_iter().map(|it| Item::of(it, limit)).collect();
    let mut left = items.iter().map(|item| item.text().len() + GAP.len()).sum();
    let mut reply = Reply {
        parts: Vec::new(),
        bytes: beside,
        names: Names::default(),
    };
    for item in items {
        left -= item.text().len() + GAP.len();
        match item {
            Item::Text(text) => reply.say(&text),
            Item::Media { held, note } => {
                // What follows must fit, too, even if all of it has to be said. No gap is needed
                // behind media.
                let after: usize = left;
                let after = after.saturating_sub(GAP.len());
                if reply.bytes + held.bytes() + after <= limit {
                    reply.show(held);
                } else {
                    reply.say(&note);
                }
            }
        }
    }
    reply.parts
}

/// A piece, and what is said of it.
enum Item {
    Text(String),
    Media {
        held: HeldMedia,
        /// What is said in its place if it does not fit.
        note: String,
    },
}

impl Item {
    fn of(piece: Piece, limit: usize) -> Self {
        Self::Text(match piece {
            // Lines that are indented stay so.
            Piece::Said(said) => said.text.trim_start_matches('\n').trim_end().to_owned(),
            Piece::Media(held) => match held.judged() {
                Ok(held) => {
                    let note = held.left_out(Why::NoRoom { limit }).to_string();
                    return Self::Media { held, note };
                }
                Err(left_out) => LeftOut::to_string(&left_out),
            },
            Piece::LeftOut(left_out) => left_out.to_string(),
            Piece::Surplus(1) => "[left out: one more part: there are too many]".to_owned(),
            Piece::Surplus(count) => format!("[left out: {count} more parts: there are too many]"),
        })
    }

    fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Media { note: text, .. } => text,
        }
    }
}

/// A reply so far.
struct Reply {
    parts: Vec<OutPart>,
    bytes: usize,
    names: Names,
}

impl Reply {
    fn say(&mut self, text: &str) {
        if let Some(OutPart::Text(before)) = self.parts.last_mut() {
            before.push_str(GAP);
            before.push_str(text);
            self.bytes += GAP.len();
        } else {
            self.parts.push(OutPart::Text(text.to_owned()));
        }
        self.bytes += text.len();
    }

    fn show(&mut self, held: HeldMedia) {
        self.bytes += held.bytes();
        self.parts.push(held.into_part(&mut self.names));
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use openclaw_engine::ReplyPart;
    use proptest::prelude::*;

    use super::super::piece::{Said, Voice};
    use super::*;

    fn said(text: &str) -> Piece {
        let (voice, text) = (Voice::Agent, text.to_owned());
        Piece::Said(Said { voice, text })
    }

    fn file(bytes: usize) -> Piece {
        let part = ReplyPart::Resource {
            name: "a".to_owned(),
            mime_type: "application/x-thing".to_owned(),
            data: STANDARD.encode(vec![7; bytes]).into(),
        };
        Piece::Media(HeldMedia::of(part).unwrap())
    }

    fn within(reply: usize) -> Limits {
        Limits {
            reply,
            ..Limits::default()
        }
    }

    /// How many bytes parts have, and what they are.
    fn measured(parts: &[OutPart]) -> (usize, Vec<String>) {
        let one = |part: &OutPart| match part {
            OutPart::Text(text) => (text.len(), text.clone()),
            OutPart::Resource { uri, data, .. } => {
                (STANDARD.decode(&**data).unwrap().len(), uri.clone())
            }
            OutPart::Image { .. } | OutPart::Audio { .. } => unreachable!(),
        };
        let (bytes, shown): (Vec<usize>, _) = parts.iter().map(one).unzip();
        (bytes.into_iter().sum(), shown)
    }

    #[test]
    fn texts_are_joined_and_media_stay_between_them() {
        let pieces = vec![
            said("\n  one\n"),
            said("two"),
            file(1),
            file(2),
            said("three"),
            Piece::Surplus(3),
        ];
        let (_, shown) = measured(&fitted(pieces, &Limits::default(), 0));
        assert_eq!(
            shown,
            [
                "  one\n\ntwo",
                "attachment://a",
                "attachment://a-2",
                "three\n\n[left out: 3 more parts: there are too many]"
            ]
        );
    }

    #[test]
    fn the_limit_itself_still_fits() {
        let pieces = || vec![said("one"), file(100), file(200), said("two")];
        let (bytes, shown) = measured(&fitted(pieces(), &within(306), 0));
        assert_eq!((bytes, shown.len()), (306, 4));
        let (bytes, shown) = measured(&fitted(pieces(), &within(306), 1));
        let note = "[left out: a, application/x-thing, 200 bytes: the reply has no room for it, 306 \
                    bytes is the most]";
        // The second is named, and what that takes was kept free.
        assert_eq!(shown, ["one", "attachment://a", &format!("{note}\n\ntwo")]);
        assert!(bytes <= 305, "{bytes}");
    }

    proptest! {
        #[test]
        fn a_reply_is_never_larger_than_its_limit(
            sizes in prop::collection::vec((any::<bool>(), 1..200_usize), 0..10),
            beside in 0..50_usize,
            limit in 0..2000_usize,
        ) {
            let pieces = sizes.iter().map(|(is_text, size)| {
                if *is_text { said(&"x".repeat(*size)) } else { file(*size) }
            });
            let pieces: Vec<Piece> = pieces.collect();
            let none = fitted(pieces.clone(), &within(0), 0);
            let (smallest, _) = measured(&none);
            let limit = limit.max(smallest + beside + 20 * sizes.len());
            let parts = fitted(pieces, &within(limit), beside);
            let (bytes, shown) = measured(&parts);
            prop_assert!(bytes + beside <= limit, "{} of {}", bytes, limit);
            // Each is there or named.
            let media = sizes.iter().filter(|(is_text, _)| !is_text).count();
            let shown = shown.join("\n");
            let there = shown.matches("attachment://").count();
            prop_assert_eq!(there + shown.matches("[left out: a, ").count(), media);
        }
    }
}
