//! Letters, folded until those that can be mistaken for each other are the same.

use crate::characters::LONG_S;

/// Gives the letters that a letter or digit counts as.
///
/// `i`, `l` and `1` are one, so are `o` and `0`; `m` is `rn`, as in Unicode's data of look-alikes.
pub(super) fn canonical(letter: u8) -> &'static [u8] {
    const ITSELF: &[u8] = b"abcdefghijklmnopqrstuvwxyz23456789~";
    match letter {
        b'i' | b'1' => b"l",
        b'0' => b"o",
        b'm' => b"rn",
        _ => {
            let place = ITSELF.iter().position(|known| *known == letter);
            place.and_then(|at| ITSELF.get(at..=at)).unwrap_or_default()
        }
    }
}

/// Whether folded letters are those of a name; a long s is an `s` or an `f`.
pub(super) fn is_name(letters: &[u8], name: &[u8]) -> bool {
    let is_same = |(letter, wanted): (&u8, &u8)| {
        letter == wanted || *letter == LONG_S.as_bytes()[0] && matches!(wanted, b's' | b'f')
    };
    letters.len() == name.len() && letters.iter().zip(name).all(is_same)
}

/// Folds a whole word.
pub(super) fn word(text: &str) -> Vec<u8> {
    text.bytes()
        .flat_map(|letter| canonical(letter).iter().copied())
        .collect()
}
