//! Whether metadata are of whom they were asked for.

/// Whether the issuer in metadata is who they were asked for (RFC 8414 §3.3).
///
/// Real deployments are named with a slash at the end where their own metadata have none, and the
/// other way round: one slash more or less is the same, and nothing else is.
pub(crate) fn is_same_issuer(asked: &str, said: &str) -> bool {
    let is_longer = |longer: &str, shorter: &str| longer.strip_suffix('/') == Some(shorter);
    asked == said || is_longer(asked, said) || is_longer(said, asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slash_at_the_end_is_all_that_may_differ() {
        for (asked, said, same) in [
            ("https://a.example", "https://a.example", true),
            ("https://a.example/", "https://a.example", true),
            ("https://a.example", "https://a.example/", true),
            ("https://a.example/t", "https://a.example/t/", true),
            ("https://a.example//", "https://a.example", false),
            ("https://a.example", "https://a.example//", false),
            ("https://a.example", "https://A.example", false),
            ("https://a.example", "http://a.example", false),
            ("https://a.example", "https://a.example:443", false),
            ("https://a.example/t", "https://a.example", false),
            ("https://a.example/t", "https://a.example/%74", false),
            ("https://a.example", "https://a.example.evil", false),
            ("/", "", true),
        ] {
            assert_eq!(is_same_issuer(asked, said), same, "{asked} {said}");
        }
    }
}
