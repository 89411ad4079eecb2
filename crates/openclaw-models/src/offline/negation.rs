//! Words that say that something is not to be done.

use super::asked::Asked;
use super::stated::Span;

/// Words that say so by themselves.
const NEGATIONS: [&str; 8] = [
    "avoid", "cannot", "dont", "neither", "never", "nor", "not", "without",
];
/// Words that `no` says so with.
const WITH_NO: [&str; 3] = ["longer", "need", "reason"];

/// How far a negation reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Over everything that the message says.
    Message,
    /// Over what follows it.
    Following,
    /// To the end of its sentence.
    Sentence,
    /// To the next comma, or the end of its sentence.
    Clause,
}

/// What says that what the message asks for at a place is not to be done.
pub(super) fn negation(asked: &Asked, place: usize, reach: Reach) -> Option<Span> {
    let mut found = negations(asked);
    found.retain(|span| match reach {
        Reach::Message => true,
        Reach::Following => span.start < place,
        Reach::Sentence => span.start < place && !is_ended(asked, span.end, place),
        Reach::Clause => {
            let between = asked.text.get(span.end..place).unwrap_or_default();
            span.start < place
                && !between.contains([',', ';', ':'])
                && !is_ended(asked, span.end, place)
        }
    });
    found.pop()
}

fn negations(asked: &Asked) -> Vec<Span> {
    let words = &asked.words;
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let start = match word.text.as_str() {
            text if NEGATIONS.contains(&text) => word.start,
            // `don't`, `mustn’t`
            "t" => match before {
                Some(before)
                    if is_short(asked, before.end, word.start) && before.text.ends_with('n') =>
                {
                    before.start
                }
                _ => continue,
            },
            text if WITH_NO.contains(&text) => match before {
                Some(before) if before.text == "no" => before.start,
                _ => continue,
            },
            _ => continue,
        };
        let end = word.end;
        found.push(Span { start, end });
    }
    found
}

fn is_short(asked: &Asked, from: usize, to: usize) -> bool {
    matches!(asked.text.get(from..to), Some("'" | "’" | "´" | "`"))
}

fn is_ended(asked: &Asked, from: usize, to: usize) -> bool {
    let between = asked.text.get(from..to).unwrap_or_default();
    let mut ends = between.match_indices(['.', '!', '?', '\n']);
    ends.any(|(at, end)| {
        let after = between.get(at + end.len()..).unwrap_or_default();
        end == "\n" || after.is_empty() || after.starts_with(char::is_whitespace)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, reach: Reach) -> Option<&str> {
        let asked = Asked::read(text.to_owned());
        let place = text.find("echo").unwrap();
        negation(&asked, place, reach).map(|span| &text[span.start..span.end])
    }

    #[test]
    fn negations_are_found_in_all_their_forms() {
        for (text, expected) in [
            ("don't echo x", "don't"),
            ("please do NOT echo x", "NOT"),
            ("you mustn’t ever echo x", "mustn’t"),
            ("dont echo x", "dont"),
            ("never, ever echo x", "never"),
            ("go on without any echo", "without"),
            ("there is no need to echo", "no need"),
        ] {
            assert_eq!(said(text, Reach::Sentence), Some(expected), "{text}");
        }
        for text in [
            "echo do not disturb",
            "can echo",
            "a knot, echo",
            "note: echo",
            "no, echo",
        ] {
            assert_eq!(said(text, Reach::Following), None, "{text}");
        }
    }

    #[test]
    fn a_negation_reaches_as_far_as_is_asked() {
        let text = "Do not worry. echo x, and not y";
        assert_eq!(said(text, Reach::Sentence), None);
        assert_eq!(said(text, Reach::Clause), None);
        assert_eq!(said(text, Reach::Following), Some("not"));
        assert_eq!(said("echo x, not y", Reach::Message), Some("not"));
        let text = "I do not know, echo x";
        assert_eq!(said(text, Reach::Clause), None);
        assert_eq!(said(text, Reach::Sentence), Some("not"));
        assert_eq!(said("do not ever call echo", Reach::Clause), Some("not"));
    }
}
