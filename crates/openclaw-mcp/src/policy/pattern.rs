//! Patterns over names: `*` stands for anything, case does not matter.

use memchr::memmem;

/// A pattern over names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// What stands between the stars, folded.
    parts: Vec<String>,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        let text = text.trim().to_lowercase();
        Self {
            parts: text.split('*').map(str::to_owned).collect(),
        }
    }

    /// A pattern for which case does matter.
    pub(crate) fn exact(text: &str) -> Self {
        Self {
            parts: text.split('*').map(str::to_owned).collect(),
        }
    }

    /// Whether a name is meant, as it is written.
    pub(crate) fn matches_exactly(&self, name: &str) -> bool {
        self.matches_folded(name)
    }

    /// Whether a name is meant.
    pub(crate) fn matches(&self, name: &str) -> bool {
        self.matches_folded(&name.to_lowercase())
    }

    /// The same for a name in small letters.
    pub(crate) fn matches_folded(&self, name: &str) -> bool {
        let Some((first, others)) = self.parts.split_first() else {
            return false;
        };
        let Some((last, middle)) = others.split_last() else {
            return name == *first;
        };
        let Some(mut rest) = name.strip_prefix(first.as_str()) else {
            return false;
        };
        // The leftmost place for each part leaves the most for the others.
        for part in middle {
            match memmem::find(rest.as_bytes(), part.as_bytes()) {
                Some(place) => rest = &rest[place + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last.as_str())
    }

    /// Whether all names that begin so are meant.
    pub(crate) fn matches_all_from(&self, beginning: &str) -> bool {
        let beginning = beginning.to_lowercase();
        match self.parts.split_last() {
            // Only a star at the end takes whatever follows.
            Some((last, before)) if last.is_empty() && !before.is_empty() => {
                // The beginning itself, cut anywhere, must satisfy all that stands before the star.
                let open = Self {
                    parts: self.parts.clone(),
                };
                open.matches(&beginning)
            }
            _ => false,
        }
    }

    /// Whether some name that begins so is meant.
    pub(crate) fn may_match_from(&self, beginning: &str) -> bool {
        let beginning = beginning.to_lowercase();
        let Some((first, others)) = self.parts.split_first() else {
            return false;
        };
        if others.is_empty() {
            return first.starts_with(&beginning);
        }
        // Once the first star is reached, whatever is still missing may follow.
        first.starts_with(&beginning) || beginning.starts_with(first.as_str())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        let matches = |pattern: &str, name: &str| Pattern::new(pattern).matches(name);
        assert!(matches("mcp_github_*", "mcp_github_create_issue"));
        assert!(matches("MCP_GitHub_*", "mcp_github_"));
        assert!(matches("*", "") && matches("*", "anything"));
        assert!(matches("*issue*", "mcp_github_create_issue"));
        assert!(matches("a*b*c", "a-b-b-c") && !matches("a*b*c", "a-c-b"));
        assert!(matches("exact", "exact") && !matches("exact", "exactly"));
        assert!(!matches("a*a", "a"), "the two ends don't share a letter");
        assert!(!matches("", "x") && matches("", ""));
    }

    #[test]
    fn beginnings_are_judged_as_a_whole() {
        let all = |pattern: &str| Pattern::new(pattern).matches_all_from("github/");
        assert!(all("*") && all("github/*") && all("git*"));
        assert!(!all("github/create*") && !all("*issue") && !all("github/"));
        let may = |pattern: &str| Pattern::new(pattern).may_match_from("github/");
        assert!(may("*") && may("github/create") && may("git*") && may("*issue"));
        assert!(!may("files/*") && !may("github") && !may("x*"));
    }

    proptest! {
        #[test]
        fn a_pattern_means_what_a_slow_one_means(pattern in "[ab*]{0,6}", name in "[ab]{0,8}") {
            fn slow(pattern: &[u8], name: &[u8]) -> bool {
                match pattern.split_first() {
                    None => name.is_empty(),
                    Some((b'*', rest)) => (0..=name.len()).any(|cut| slow(rest, &name[cut..])),
                    Some((letter, rest)) => name.first() == Some(letter) && slow(rest, &name[1..]),
                }
            }
            let expected = slow(pattern.as_bytes(), name.as_bytes());
            prop_assert_eq!(Pattern::new(&pattern).matches(&name), expected);
        }

        #[test]
        fn beginnings_hold_for_every_name(pattern in "[ab*]{0,5}", start in "[ab]{0,4}", end in "[ab]{0,5}") {
            let pattern = Pattern::new(&pattern);
            let is_meant = pattern.matches(&format!("{start}{end}"));
            prop_assert!(is_meant || !pattern.matches_all_from(&start));
            prop_assert!(!is_meant || pattern.may_match_from(&start));
        }
    }
}
