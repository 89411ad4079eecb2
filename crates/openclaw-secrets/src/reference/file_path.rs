//! The path of a `file` reference.

use std::fmt;

use super::error::SecretReferenceError;
use super::provider::Provider;

/// The path of a `file` reference, as written: `~` is expanded when the file is read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FilePath {
    /// An absolute path, with its leading `/` or drive letter.
    #[non_exhaustive]
    Absolute {
        /// The whole path.
        path: String,
    },
    /// A path below the home directory, without the leading `~/`.
    #[non_exhaustive]
    Home {
        /// The part below the home directory.
        path: String,
    },
}

impl FilePath {
    /// Reads what stands between `secret://file/` and `#`.
    pub(super) fn parse(text: &str) -> Result<Self, SecretReferenceError> {
        if matches!(text, "" | "/" | "~" | "~/") {
            return Err(SecretReferenceError::empty(Provider::File));
        }
        if text.ends_with('/') {
            return Err(SecretReferenceError::missing(
                Provider::File,
                "a file name at its end",
            ));
        }
        if let Some(below) = text.strip_prefix("~/") {
            // `~//x` would leave the home directory once it is joined to it.
            return if below.starts_with('/') {
                Err(SecretReferenceError::RelativeFilePath)
            } else {
                Ok(Self::Home {
                    path: below.to_owned(),
                })
            };
        }
        if text.starts_with('/') || starts_with_drive(text) {
            return Ok(Self::Absolute {
                path: text.to_owned(),
            });
        }
        let first = text.split('/').next().unwrap_or(text);
        if first == "." || first == ".." || first.starts_with('~') {
            return Err(SecretReferenceError::RelativeFilePath);
        }
        Ok(Self::Absolute {
            path: format!("/{text}"),
        })
    }
}

/// Writes the part of the URI behind `secret://file/`.
impl fmt::Display for FilePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Home { path } => write!(formatter, "~/{path}"),
            Self::Absolute { path } => {
                // The short spelling drops the leading slash; a path such as `/~/x` needs it to
                // keep its meaning.
                let short = path
                    .strip_prefix('/')
                    .filter(|short| Self::parse(short).as_ref() == Ok(self));
                formatter.write_str(short.unwrap_or(path))
            }
        }
    }
}

fn starts_with_drive(text: &str) -> bool {
    matches!(
        text.as_bytes(),
        [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn absolute(path: &str) -> FilePath {
        FilePath::Absolute { path: path.into() }
    }

    fn home(path: &str) -> FilePath {
        FilePath::Home { path: path.into() }
    }

    #[test]
    fn paths_are_absolute_or_below_home() {
        for (text, path, shown) in [
            ("etc/key", absolute("/etc/key"), "etc/key"),
            ("/etc/key", absolute("/etc/key"), "etc/key"),
            ("//etc/key", absolute("//etc/key"), "//etc/key"),
            ("/~/key", absolute("/~/key"), "/~/key"),
            ("/../key", absolute("/../key"), "/../key"),
            ("/C:/key", absolute("/C:/key"), "/C:/key"),
            ("C:/key", absolute("C:/key"), "C:/key"),
            ("c:\\key", absolute("c:\\key"), "c:\\key"),
            ("~/.ssh/key", home(".ssh/key"), "~/.ssh/key"),
        ] {
            let parsed = FilePath::parse(text).unwrap();
            assert_eq!(parsed, path, "{text}");
            assert_eq!(parsed.to_string(), shown, "{text}");
            assert_eq!(FilePath::parse(shown).unwrap(), path, "{shown}");
        }
    }

    #[test]
    fn relative_and_empty_paths_are_refused() {
        for text in ["./key", "../key", "~user/key", "~//key", "..", "~x"] {
            assert_eq!(
                FilePath::parse(text),
                Err(SecretReferenceError::RelativeFilePath),
                "{text}"
            );
        }
        for text in ["", "/", "~", "~/"] {
            assert!(
                matches!(
                    FilePath::parse(text),
                    Err(SecretReferenceError::EmptyPath { .. })
                ),
                "{text}"
            );
        }
        for text in ["etc/", "/etc/", "~/keys/"] {
            assert!(
                matches!(
                    FilePath::parse(text),
                    Err(SecretReferenceError::MissingPart { .. })
                ),
                "{text}"
            );
        }
    }
}
