//! References to secrets: `secret://…` and OpenClaw's `SecretRef` objects, parsed once.

mod error;
mod file_path;
mod parse;
mod provider;

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

pub use error::SecretReferenceError;
pub use file_path::FilePath;

/// The scheme of a reference URI.
const SCHEME: &str = "secret://";

/// The prefix of the readable spelling of those objects that have no URI.
const OBJECT_PREFIX: &str = "secret-ref:";

/// What is encoded in the `key` of an `aws` reference: all but RFC 3986's unreserved characters.
const KEY_ENCODING: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Where a secret is kept; never the secret itself.
///
/// | spelling | variant |
/// |---|---|
/// | `secret://gcp/NAME[#VERSION]`, `secret://gcp/projects/P/secrets/NAME[#VERSION]`, the same with `/versions/VERSION` | [`Gcp`](Self::Gcp) |
/// | `secret://aws/NAME[#VERSION-OR-STAGE][?key=FIELD]` | [`Aws`](Self::Aws) |
/// | `secret://vault/MOUNT/PATH[#FIELD]` | [`Vault`](Self::Vault) |
/// | `secret://env/NAME` | [`Environment`](Self::Environment) |
/// | `secret://file/ABSOLUTE/PATH[#/json/pointer]`, `secret://file//ABSOLUTE/PATH`, `secret://file/~/PATH` | [`File`](Self::File) |
/// | `secret://keyring/SERVICE/ACCOUNT`, `{source: "store", provider, id}` | [`Keyring`](Self::Keyring) |
/// | `secret://exec/ALIAS/ID`, `{source: "env" \| "file" \| "exec", provider, id}` | [`Configured`](Self::Configured) |
///
/// Names are taken as written: nothing is percent-decoded but the `key` of an `aws` reference,
/// the only part in which every character can occur. The scheme may be in any case, the provider
/// is lower case.
///
/// References are made by [`str::parse`] and [`SecretReference::from_object`] only, so that what
/// exists has been checked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SecretReference {
    /// A secret of Google Cloud's Secret Manager.
    #[non_exhaustive]
    Gcp {
        /// The project, if the reference names one.
        project: Option<String>,
        /// The name of the secret.
        name: String,
        /// The version; the latest where it is missing.
        version: Option<String>,
    },
    /// A secret of AWS Secrets Manager.
    #[non_exhaustive]
    Aws {
        /// The name or ARN of the secret; it may contain `/`.
        name: String,
        /// The version or stage; the current one where it is missing.
        version: Option<String>,
        /// The field to take from a secret that is a JSON object.
        key: Option<String>,
    },
    /// A secret of a key-value engine of `HashiCorp` Vault.
    #[non_exhaustive]
    Vault {
        /// The mount point of the engine.
        mount: String,
        /// The path below the mount point.
        path: String,
        /// The field to take.
        field: Option<String>,
    },
    /// A variable of our own environment.
    #[non_exhaustive]
    Environment {
        /// The name of the variable.
        variable: String,
    },
    /// A file, or one value of a JSON file.
    #[non_exhaustive]
    File {
        /// Where the file is.
        path: FilePath,
        /// The JSON pointer (RFC 6901) to the value.
        pointer: Option<String>,
    },
    /// An entry of the keyring of the operating system.
    #[non_exhaustive]
    Keyring {
        /// The service under which it is kept.
        service: String,
        /// The account.
        account: String,
    },
    /// A secret that an entry of `secrets.providers` knows how to get.
    #[non_exhaustive]
    Configured {
        /// The kind of the entry.
        source: ConfiguredSource,
        /// The name of the entry.
        provider: String,
        /// What to ask it for.
        id: String,
    },
}

/// The kind of an entry of `secrets.providers`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConfiguredSource {
    /// Variables of our own environment, limited to a list.
    Environment,
    /// A file.
    File,
    /// A program that answers with the secret.
    Exec,
}

impl ConfiguredSource {
    /// The word that stands for it in a `SecretRef` object.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Environment => "env",
            Self::File => "file",
            Self::Exec => "exec",
        }
    }
}

/// Writes the spelling that parses back to an equal value.
///
/// It is a `secret://` URI, except for references to a configured `env` or `file` provider, which
/// have none and are written `secret-ref:file/ALIAS/ID`.
impl fmt::Display for SecretReference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gcp {
                project,
                name,
                version,
            } => {
                formatter.write_str("secret://gcp/")?;
                if let Some(project) = project {
                    write!(formatter, "projects/{project}/secrets/")?;
                }
                formatter.write_str(name)?;
                write_fragment(formatter, version.as_deref())
            }
            Self::Aws { name, version, key } => {
                write!(formatter, "secret://aws/{name}")?;
                write_fragment(formatter, version.as_deref())?;
                key.as_deref().map_or(Ok(()), |key| {
                    write!(formatter, "?key={}", utf8_percent_encode(key, KEY_ENCODING))
                })
            }
            Self::Vault { mount, path, field } => {
                write!(formatter, "secret://vault/{mount}/{path}")?;
                write_fragment(formatter, field.as_deref())
            }
            Self::Environment { variable } => write!(formatter, "secret://env/{variable}"),
            Self::File { path, pointer } => {
                write!(formatter, "secret://file/{path}")?;
                write_fragment(formatter, pointer.as_deref())
            }
            Self::Keyring { service, account } => {
                write!(formatter, "secret://keyring/{service}/{account}")
            }
            Self::Configured {
                source,
                provider,
                id,
            } => {
                let prefix = match source {
                    ConfiguredSource::Exec => SCHEME,
                    ConfiguredSource::Environment | ConfiguredSource::File => OBJECT_PREFIX,
                };
                write!(formatter, "{prefix}{}/{provider}/{id}", source.name())
            }
        }
    }
}

fn write_fragment(formatter: &mut fmt::Formatter<'_>, fragment: Option<&str>) -> fmt::Result {
    fragment.map_or(Ok(()), |fragment| write!(formatter, "#{fragment}"))
}

/// Says whether a text is meant as a reference: it starts with `secret://`, in any case.
pub fn is_secret_uri(text: &str) -> bool {
    strip_scheme(text).is_some()
}

/// The reference that a text was probably meant to be, if it is none and looks like one:
/// `secret:/env/NAME`, `secrets://env/NAME`.
pub fn misspelt_secret_uri(text: &str) -> Option<String> {
    const BEGINNINGS: [&str; 6] = [
        "secrets://",
        "secrets:/",
        "secrets:",
        "secret:/",
        "secret:",
        "secret//",
    ];
    if is_secret_uri(text) {
        return None;
    }
    let rest = BEGINNINGS.iter().find_map(|beginning| {
        let (start, rest) = text.split_at_checked(beginning.len())?;
        start.eq_ignore_ascii_case(beginning).then_some(rest)
    })?;
    let meant = format!("{SCHEME}{}", rest.trim_start_matches('/'));
    let reference: SecretReference = meant.parse().ok()?;
    Some(reference.to_string())
}

/// Says whether `secret://` stands anywhere in a text, in any case.
pub fn contains_secret_uri(text: &str) -> bool {
    text.as_bytes()
        .windows(SCHEME.len())
        .any(|window| window.eq_ignore_ascii_case(SCHEME.as_bytes()))
}

fn strip_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_at_checked(SCHEME.len())?;
    scheme.eq_ignore_ascii_case(SCHEME).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_is_found_in_any_case() {
        assert!(is_secret_uri("secret://env/X"));
        assert!(is_secret_uri("SECRET://env/X"));
        assert!(!is_secret_uri("Bearer secret://env/X"));
        assert!(!is_secret_uri("secret:/env/X"));
        assert!(!is_secret_uri("sécret://env/X"));
        assert!(contains_secret_uri("Bearer secret://env/X"));
        assert!(contains_secret_uri("Bearer Secret://env/X"));
        assert!(contains_secret_uri("secret://"));
        assert!(!contains_secret_uri("secret:/ /env"));
        assert!(!contains_secret_uri(""));
    }

    #[test]
    fn what_was_meant_as_a_reference_is_known() {
        for text in [
            "secret:/env/X",
            "secret:env/X",
            "secrets://env/X",
            "secret//env/X",
            "secrets:/env/X",
        ] {
            assert_eq!(
                misspelt_secret_uri(text).as_deref(),
                Some("secret://env/X"),
                "{text}"
            );
        }
        for text in [
            "secret://env/X",
            "secret:hunter2",
            "secret",
            "secretary:/env/X",
            "Bearer x",
        ] {
            assert_eq!(misspelt_secret_uri(text), None, "{text}");
        }
    }

    #[test]
    fn references_are_shown_in_their_canonical_spelling() {
        for (text, shown) in [
            ("SECRET://gcp/key", "secret://gcp/key"),
            (
                "secret://gcp/projects/p/secrets/key/versions/3",
                "secret://gcp/projects/p/secrets/key#3",
            ),
            (
                "secret://aws/prod/db?key=pass%20word#AWSPREVIOUS",
                "secret://aws/prod/db#AWSPREVIOUS?key=pass%20word",
            ),
            ("secret://file//etc/key#/a/b", "secret://file/etc/key#/a/b"),
            ("secret://exec/op/a//b?c#d", "secret://exec/op/a//b?c#d"),
            ("secret-ref:file/main//a/b", "secret-ref:file/main//a/b"),
        ] {
            let reference: SecretReference = text.parse().unwrap();
            assert_eq!(reference.to_string(), shown, "{text}");
            assert_eq!(shown.parse(), Ok(reference), "{text}");
        }
    }
}
