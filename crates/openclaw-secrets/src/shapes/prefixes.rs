//! Credentials that announce themselves by a prefix.

use std::ops::Range;

use super::{Finding, begins_word, run_end};

/// A credential that begins with a literal.
pub(super) struct Prefix {
    /// What it begins with, in this case.
    pub(super) literal: &'static str,
    /// The bytes that may follow.
    class: Class,
    /// How many of them there are at least.
    minimum: usize,
    /// What else must be true of them.
    rule: Rule,
}

#[derive(Clone, Copy)]
enum Class {
    /// `A-Z a-z 0-9`
    Alphanumeric,
    /// `A-Z 0-9`
    Uppercase,
    /// The alphabet of URL-safe base64: letters, digits, `-`, `_`.
    Url,
    /// The same and `.`.
    Dotted,
}

#[derive(Clone, Copy)]
enum Rule {
    /// Prefix, class and length are telling enough.
    Nothing,
    /// Letters and digits both: words have no digits.
    Digits,
    /// A long random-looking part: `sk-` alone begins many names.
    Random,
    /// Three parts with dots between, as in a JWT (RFC 7519).
    ThreeParts,
}

/// The shortest part of a token that counts as random.
const SHORTEST_RANDOM_PART: usize = 12;

const fn prefix(literal: &'static str, class: Class, minimum: usize, rule: Rule) -> Prefix {
    Prefix {
        literal,
        class,
        minimum,
        rule,
    }
}

/// The table. Lengths are a little below those in use, so that a shorter variant is found too.
pub(super) const PREFIXES: &[Prefix] = &[
    // OpenAI, Anthropic (`sk-ant-`), OpenRouter (`sk-or-`), DeepSeek and many others.
    prefix("sk-", Class::Url, 20, Rule::Random),
    prefix("xai-", Class::Url, 40, Rule::Random),
    prefix("gsk_", Class::Alphanumeric, 40, Rule::Digits),
    prefix("pplx-", Class::Alphanumeric, 40, Rule::Digits),
    prefix("nvapi-", Class::Url, 40, Rule::Digits),
    prefix("hf_", Class::Alphanumeric, 30, Rule::Nothing),
    prefix("r8_", Class::Alphanumeric, 35, Rule::Nothing),
    prefix("tvly-", Class::Url, 20, Rule::Digits),
    // GitHub, GitLab.
    prefix("ghp_", Class::Url, 30, Rule::Nothing),
    prefix("gho_", Class::Url, 30, Rule::Nothing),
    prefix("ghu_", Class::Url, 30, Rule::Nothing),
    prefix("ghs_", Class::Url, 30, Rule::Nothing),
    prefix("ghr_", Class::Url, 30, Rule::Nothing),
    prefix("github_pat_", Class::Url, 36, Rule::Digits),
    prefix("glpat-", Class::Dotted, 20, Rule::Digits),
    // Slack.
    prefix("xoxa-", Class::Url, 20, Rule::Digits),
    prefix("xoxb-", Class::Url, 20, Rule::Digits),
    prefix("xoxc-", Class::Url, 20, Rule::Digits),
    prefix("xoxd-", Class::Url, 20, Rule::Digits),
    prefix("xoxe-", Class::Url, 20, Rule::Digits),
    prefix("xoxe.", Class::Url, 20, Rule::Digits),
    prefix("xoxp-", Class::Url, 20, Rule::Digits),
    prefix("xoxr-", Class::Url, 20, Rule::Digits),
    prefix("xoxs-", Class::Url, 20, Rule::Digits),
    prefix("xapp-", Class::Url, 20, Rule::Digits),
    // AWS, Google, DigitalOcean, Vault.
    prefix("AKIA", Class::Uppercase, 16, Rule::Nothing),
    prefix("ASIA", Class::Uppercase, 16, Rule::Nothing),
    prefix("AIza", Class::Url, 30, Rule::Digits),
    prefix("ya29.", Class::Dotted, 20, Rule::Digits),
    prefix("dop_v1_", Class::Alphanumeric, 40, Rule::Nothing),
    prefix("hvs.", Class::Url, 24, Rule::Digits),
    // Payment, packages, mail, design, notes.
    prefix("sk_live_", Class::Alphanumeric, 16, Rule::Nothing),
    prefix("sk_test_", Class::Alphanumeric, 16, Rule::Nothing),
    prefix("rk_live_", Class::Alphanumeric, 16, Rule::Nothing),
    prefix("rk_test_", Class::Alphanumeric, 16, Rule::Nothing),
    prefix("npm_", Class::Alphanumeric, 30, Rule::Nothing),
    prefix("pypi-", Class::Url, 50, Rule::Digits),
    prefix("SG.", Class::Dotted, 50, Rule::Random),
    prefix("figd_", Class::Url, 30, Rule::Digits),
    prefix("lin_api_", Class::Alphanumeric, 30, Rule::Nothing),
    prefix("ntn_", Class::Alphanumeric, 40, Rule::Nothing),
    prefix("secret_", Class::Alphanumeric, 40, Rule::Digits),
    // JWT: the first part is an object in base64, and `{"` in base64 is `eyJ`.
    prefix("eyJ", Class::Dotted, 30, Rule::ThreeParts),
];

impl Prefix {
    pub(super) fn examine(&self, text: &[u8], place: Range<usize>) -> Finding {
        let matches_case = text.get(place.clone()) == Some(self.literal.as_bytes());
        if !matches_case || !begins_word(text, place.start) {
            return Finding::NOTHING;
        }
        let examined = run_end(text, place.end, |byte| self.class.contains(byte));
        let run = text.get(place.end..examined).unwrap_or_default();
        // A dot or dash at the end belongs to the sentence.
        let trimmed = run
            .iter()
            .rposition(|byte| !matches!(byte, b'.' | b'-'))
            .map_or(0, |last| last + 1);
        let body = run.get(..trimmed).unwrap_or_default();
        let hit = (body.len() >= self.minimum && self.rule.holds(body))
            .then(|| place.start..place.end + body.len());
        Finding { hit, examined }
    }
}

impl Class {
    fn contains(self, byte: u8) -> bool {
        match self {
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Uppercase => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
        }
    }
}

impl Rule {
    /// Every rule that holds for a part of a run holds for the run: see [`Finding::examined`].
    fn holds(self, body: &[u8]) -> bool {
        match self {
            Self::Nothing => true,
            Self::Digits => has_letters_and_digits(body),
            Self::Random => looks_random(body),
            Self::ThreeParts => {
                let parts: Vec<usize> = body.split(|&byte| byte == b'.').map(<[u8]>::len).collect();
                parts
                    .windows(3)
                    .any(|lengths| lengths.iter().all(|&length| length >= 10))
            }
        }
    }
}

pub(super) fn has_letters_and_digits(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_digit) && text.iter().any(u8::is_ascii_alphabetic)
}

/// Says whether a text has a part of letters and digits that no language has: long, and of at
/// least two of capitals, small letters and digits.
pub(crate) fn looks_random(text: &[u8]) -> bool {
    text.split(|byte| !byte.is_ascii_alphanumeric())
        .filter(|part| part.len() >= SHORTEST_RANDOM_PART)
        .any(|part| {
            let kinds = [
                part.iter().any(u8::is_ascii_digit),
                part.iter().any(u8::is_ascii_lowercase),
                part.iter().any(u8::is_ascii_uppercase),
            ];
            kinds.into_iter().filter(|&kind| kind).count() >= 2
        })
}

#[cfg(test)]
mod tests {
    use crate::shapes::any;

    #[test]
    fn real_looking_tokens_are_found() {
        for token in [
            "sk-abcdefghijklmnopqrstT3BlbkFJabcdefghijklmnopqrst",
            "sk-proj-Ab1_Cd2-Ef3GhIjKlMnOpQrStUvWxYz0123456789",
            "sk-ant-api03-aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3-aBcDeF_AA",
            "sk-or-v1-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "sk-0123456789abcdef0123456789abcdef",
            "ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ0",
            "glpat-0aB1cD2eF3gH4iJ5kL6m",
            "xoxb-123456789012-1234567890123-aBcDeFgHiJkLmNoPqRsTuVwX",
            "xapp-1-A0123456789-1234567890123-0123456789abcdef",
            "AKIAIOSFODNN7EXAMPLE",
            "AIzaSyA0123456789abcdefghijklmnopqrstuv",
            "ya29.a0AfH6SMBx0123456789abcdef",
            "sk_live_0123456789abcdefghijklmn",
            "npm_0123456789abcdefghijABCDEFGHIJ012345",
            "pypi-AgEIcHlwaS5vcmcCJDAxMjM0NTY3LTg5YWItY2RlZi0wMTIzLTQ1Njc4OWFiY2RlZg",
            "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
            "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",
            "SG.0aB1cD2eF3gH4iJ5kL6mN7.0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3aB4cD5e",
            "lin_api_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3",
            "ntn_0123456789ab0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1",
            "secret_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3abc",
            "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",
            "xai-0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3aB4cD5eF6gH7iJ8kL9mN0oP1qR2sT3uV4wX5yZ6",
            "dop_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
        ] {
            for text in [
                token.to_owned(),
                format!("token={token}."),
                format!("{{\"a\":\"line\\n{token}\"}}"),
                format!("?q=x%3D{token}&b"),
                format!("({token})"),
            ] {
                assert!(any(text.as_bytes()), "{text}");
            }
            assert!(!any(format!("x{token}").as_bytes()), "x{token}");
        }
    }

    #[test]
    fn ordinary_words_are_not_found() {
        for text in [
            "sk-learn",
            "sk-fading-circle-of-dots-in-the-middle",
            "scikit-learn sk-learn-contrib-v2",
            "hf_hub",
            "hf_hub_download",
            "npm_config_registry",
            "npm_lifecycle_event",
            "disk-0123456789abcdef0123456789",
            "task-0aB1cD2eF3gH4iJ5kL6m",
            "pypi-server",
            "xoxo-hugs-and-kisses-for-everyone",
            "secret_santa_list_of_the_whole_company_in_order",
            "AKIA",
            "AKIAshort",
            "ASIATIC",
            "ghp_short",
            "eyJhbGciOiJIUzI1NiJ9",
            "eyJhbGciOiJIUzI1NiJ9.short.x",
            "SG.Technologies.International",
            "ya29.",
            "AIza",
            "glpat-your-token-goes-here-please",
            "lin_api_key",
            "sk_test_mode",
            "ghs_",
            "SK-0123456789ABCDEF0123456789ABCDEF",
        ] {
            assert!(!any(text.as_bytes()), "{text}");
        }
    }
}
