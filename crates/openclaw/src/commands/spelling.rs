//! Words that are nearly those that we know.

/// The known word that is spelt most like this one, if any is. Who typed the beginning of a word meant that
/// word.
pub(super) fn nearest<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let distance = |it: &str| {
        if it.starts_with(word) {
            return 1;
        }
        strsim::damerau_levenshtein(word, it)
    };
    known
        .into_iter()
        .map(|it| (distance(it), it))
        .filter(|(distance, it)| *distance <= (it.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, it)| it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_is_found() {
        let near = |word| nearest(word, ["decline", "cancel", "new"]);
        for (word, expected) in [
            ("canncel", Some("cancel")),
            ("decilne", Some("decline")),
            ("dec", Some("decline")),
            ("news", Some("new")),
            ("newsletter", None),
            ("candle", Some("cancel")),
            ("etc", None),
        ] {
            assert_eq!(near(word), expected, "{word}");
        }
    }
}
