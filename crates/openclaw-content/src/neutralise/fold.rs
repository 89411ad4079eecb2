//! Letters, folded until those that can be mistaken for each other are the same.

/// Gives the letters that a letter or digit counts as.
///
/// `i`, `l` and `1` are one, so are `o` and `0`; `m` is `rn`, as in Unicode's data of look-alikes.
pub(super) fn canonical(letter: u8) -> &'static [u8] {
    const ITSELF: &[u8] = b"abcdefghijklmnopqrstuvwxyz23456789";
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

/// Folds a whole word.
pub(super) fn word(text: &str) -> Vec<u8> {
    text.bytes()
        .flat_map(|letter| canonical(letter).iter().copied())
        .collect()
}
