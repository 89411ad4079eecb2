//! The providers' names and spellings, and the guess at what a mistyped one meant.

use strsim::damerau_levenshtein;

use crate::shapes;

/// A word that can stand behind `secret://`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Provider {
    Aws,
    Env,
    Exec,
    File,
    Gcp,
    Keyring,
    Vault,
}

/// The longest word that a message repeats.
const LONGEST_SHOWN_WORD: usize = 24;

impl Provider {
    pub(super) const ALL: [Self; 7] = [
        Self::Aws,
        Self::Env,
        Self::Exec,
        Self::File,
        Self::Gcp,
        Self::Keyring,
        Self::Vault,
    ];

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|provider| provider.name() == name)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Aws => "aws",
            Self::Env => "env",
            Self::Exec => "exec",
            Self::File => "file",
            Self::Gcp => "gcp",
            Self::Keyring => "keyring",
            Self::Vault => "vault",
        }
    }

    /// The spelling that error messages teach.
    pub(super) const fn spelling(self) -> &'static str {
        match self {
            Self::Aws => "secret://aws/NAME[#VERSION-OR-STAGE][?key=FIELD]",
            Self::Env => "secret://env/NAME",
            Self::Exec => "secret://exec/ALIAS/ID",
            Self::File => "secret://file/ABSOLUTE/PATH[#/json/pointer]",
            Self::Gcp => "secret://gcp/[projects/PROJECT/secrets/]NAME[#VERSION]",
            Self::Keyring => "secret://keyring/SERVICE/ACCOUNT",
            Self::Vault => "secret://vault/MOUNT/PATH[#FIELD]",
        }
    }

    /// The provider that a mistyped name most likely meant.
    pub(super) fn nearest(name: &str) -> Option<Self> {
        // A pasted secret is not a name, and the distance costs length times length.
        if !is_plain_word(name) {
            return None;
        }
        let name = name.to_ascii_lowercase();
        Self::ALL
            .into_iter()
            .map(|provider| (damerau_levenshtein(&name, provider.name()), provider))
            .filter(|&(distance, provider)| {
                // `environment`, `files` and `keychain` share their beginning with the right word.
                distance * 2 <= provider.name().len() || shares_beginning(&name, provider.name())
            })
            .min_by_key(|&(distance, _)| distance)
            .map(|(_, provider)| provider)
    }
}

/// Lists the providers for a message.
pub(super) fn known_providers() -> String {
    Provider::ALL.map(Provider::name).join(", ")
}

/// Returns a word for a message if it is plainly no secret, else an ellipsis.
///
/// Names of providers have hardly ever a digit, and passwords nearly always.
pub(super) fn shown(word: &str) -> String {
    let has_digits = word.bytes().any(|byte| byte.is_ascii_digit());
    if is_plain_word(word) && !has_digits && !shapes::any(word.as_bytes()) {
        word.to_owned()
    } else {
        "…".to_owned()
    }
}

fn is_plain_word(word: &str) -> bool {
    (1..=LONGEST_SHOWN_WORD).contains(&word.len())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn shares_beginning(name: &str, known: &str) -> bool {
    known
        .get(..3)
        .is_some_and(|beginning| name.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistyped_names_lead_to_the_right_one() {
        for (typed, meant) in [
            ("GCP", Some("gcp")),
            ("gpc", Some("gcp")),
            ("asw", Some("aws")),
            ("valut", Some("vault")),
            ("environment", Some("env")),
            ("keychain", Some("keyring")),
            ("files", Some("file")),
            ("awz", Some("aws")),
            ("onepassword", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(
                Provider::nearest(typed).map(Provider::name),
                meant,
                "{typed}"
            );
        }
    }

    #[test]
    fn only_plain_short_words_are_shown() {
        assert_eq!(shown("onepassword"), "onepassword");
        assert_eq!(shown("ghp_0123456789abcdefghijABCDEFGHIJ012345"), "…");
        assert_eq!(shown("AKIAIOSFODNN7EXAMPLE"), "…");
        assert_eq!(shown("hunter2"), "…");
        assert_eq!(shown("p@ss"), "…");
        assert_eq!(shown(""), "…");
    }
}
