//! What can be wrong with a reference.

use thiserror::Error;

use super::provider::{Provider, known_providers};

/// The longest reference that is read, in bytes.
pub(super) const MAXIMUM_LENGTH: usize = 2048;

/// Why a text or an object is not a reference to a secret.
///
/// A message names the provider and the right spelling and never quotes the rest: people paste
/// the secret itself behind `secret://`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SecretReferenceError {
    /// The text does not start with `secret://`.
    #[error("not a secret reference: it must start with `secret://`, such as `secret://env/NAME`")]
    NotAReference,
    /// The word behind `secret://` is no provider.
    #[error(
        "unknown secret provider `{provider}`{}; the providers are: {}",
        did_you_mean(*.suggestion),
        known_providers()
    )]
    UnknownProvider {
        /// The word as written, or `…` if it is not a plain short word.
        provider: String,
        /// The known provider that is nearest to it.
        suggestion: Option<&'static str>,
    },
    /// The `source` of a reference object is none of those that exist.
    #[error("unknown secret source `{source_name}`; the sources are: env, file, exec, store")]
    UnknownSource {
        /// The word as written, or `…` if it is not a plain short word.
        source_name: String,
    },
    /// Nothing follows the provider.
    #[error("empty `{provider}` secret reference; write `{expected}`")]
    EmptyPath {
        /// The provider named.
        provider: &'static str,
        /// The right spelling.
        expected: &'static str,
    },
    /// A part that the provider needs is missing.
    #[error("`{provider}` secret reference without {part}; write `{expected}`")]
    MissingPart {
        /// The provider named.
        provider: &'static str,
        /// What is missing.
        part: &'static str,
        /// The right spelling.
        expected: &'static str,
    },
    /// There is a part that the provider cannot have.
    #[error("`{provider}` secret reference with {part}; write `{expected}`")]
    UnexpectedPart {
        /// The provider named.
        provider: &'static str,
        /// What is too much.
        part: &'static str,
        /// The right spelling.
        expected: &'static str,
    },
    /// The path of a `file` reference is neither absolute nor below `~/`.
    #[error(
        "relative path in a `file` secret reference; write `{}` or `secret://file/~/PATH`",
        Provider::File.spelling()
    )]
    RelativeFilePath,
    /// The part behind `#` of a `file` reference is not a JSON pointer (RFC 6901).
    #[error(
        "bad JSON pointer in a `file` secret reference: it starts with `/`, and `~` is written \
         `~0`; write `{}`",
        Provider::File.spelling()
    )]
    BadJsonPointer,
    /// The reference has a control character, such as a line break.
    #[error("control character at byte {offset} of a secret reference; remove it")]
    ControlCharacter {
        /// Where it stands.
        offset: usize,
    },
    /// The reference is longer than any name can be.
    #[error(
        "secret reference of {length} bytes, more than {MAXIMUM_LENGTH}; \
         write the name of the secret, not its value"
    )]
    TooLong {
        /// The length found, in bytes.
        length: usize,
    },
}

impl SecretReferenceError {
    pub(super) fn empty(provider: Provider) -> Self {
        Self::EmptyPath {
            provider: provider.name(),
            expected: provider.spelling(),
        }
    }

    pub(super) fn missing(provider: Provider, part: &'static str) -> Self {
        Self::MissingPart {
            provider: provider.name(),
            part,
            expected: provider.spelling(),
        }
    }

    pub(super) fn unexpected(provider: Provider, part: &'static str) -> Self {
        Self::UnexpectedPart {
            provider: provider.name(),
            part,
            expected: provider.spelling(),
        }
    }
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}
