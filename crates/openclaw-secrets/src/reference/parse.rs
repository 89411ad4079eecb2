//! From text and objects to [`SecretReference`].

use std::str::FromStr;

use percent_encoding::percent_decode_str;

use super::error::{MAXIMUM_LENGTH, SecretReferenceError};
use super::provider::{Provider, shown};
use super::{ConfiguredSource, FilePath, OBJECT_PREFIX, SecretReference, strip_scheme};

/// The spelling of a reference object that error messages teach.
const OBJECT_SPELLING: &str = r#"{"source": "SOURCE", "provider": "ALIAS", "id": "ID"}"#;

/// The provider that an object means when it names none.
const DEFAULT_PROVIDER: &str = "default";

/// The keyring service in which the default store keeps its secrets.
const DEFAULT_SERVICE: &str = "openclaw";

type Parsed = Result<SecretReference, SecretReferenceError>;

impl FromStr for SecretReference {
    type Err = SecretReferenceError;

    fn from_str(text: &str) -> Parsed {
        check_text(text)?;
        if let Some(rest) = strip_scheme(text) {
            let (name, path) = split_optional(rest, '/');
            let provider =
                Provider::from_name(name).ok_or_else(|| SecretReferenceError::UnknownProvider {
                    provider: shown(name),
                    suggestion: Provider::nearest(name).map(Provider::name),
                })?;
            match path {
                None | Some("") => Err(SecretReferenceError::empty(provider)),
                Some(path) => parse_path(provider, path),
            }
        } else if let Some(rest) = text.strip_prefix(OBJECT_PREFIX) {
            let (source, path) = split_optional(rest, '/');
            let (alias, id) = split_optional(path.unwrap_or_default(), '/');
            Self::from_object(source, Some(alias), id.unwrap_or_default())
        } else {
            Err(SecretReferenceError::NotAReference)
        }
    }
}

impl SecretReference {
    /// Reads OpenClaw's `SecretRef` object `{source, provider, id}`.
    ///
    /// `store` means the keyring: the provider is the service, `openclaw` for the default one,
    /// and the id is the account.
    pub fn from_object(source: &str, provider: Option<&str>, id: &str) -> Parsed {
        let provider = provider.unwrap_or(DEFAULT_PROVIDER);
        for text in [source, provider, id] {
            check_text(text)?;
        }
        let (name, configured) = match source {
            "env" => ("env", Some(ConfiguredSource::Environment)),
            "file" => ("file", Some(ConfiguredSource::File)),
            "exec" => ("exec", Some(ConfiguredSource::Exec)),
            "store" => ("store", None),
            _ => {
                return Err(SecretReferenceError::UnknownSource {
                    source_name: shown(source),
                });
            }
        };
        let missing = |part| SecretReferenceError::MissingPart {
            provider: name,
            part,
            expected: OBJECT_SPELLING,
        };
        if provider.is_empty() {
            return Err(missing("a provider"));
        }
        if id.is_empty() {
            return Err(missing("an id"));
        }
        // The provider is the first segment of the spelling; with a slash it would not read back.
        if provider.contains('/') {
            return Err(SecretReferenceError::UnexpectedPart {
                provider: name,
                part: "a `/` in its provider",
                expected: OBJECT_SPELLING,
            });
        }
        let reference = match configured {
            Some(source) => Self::Configured {
                source,
                provider: provider.to_owned(),
                id: id.to_owned(),
            },
            None => Self::Keyring {
                service: if provider == DEFAULT_PROVIDER {
                    DEFAULT_SERVICE
                } else {
                    provider
                }
                .to_owned(),
                account: id.to_owned(),
            },
        };
        // Each part fits, but the spelling of the whole has to fit as well.
        check_length(reference.to_string().len())?;
        Ok(reference)
    }
}

fn check_text(text: &str) -> Result<(), SecretReferenceError> {
    check_length(text.len())?;
    text.find(char::is_control).map_or(Ok(()), |offset| {
        Err(SecretReferenceError::ControlCharacter { offset })
    })
}

fn check_length(length: usize) -> Result<(), SecretReferenceError> {
    if length > MAXIMUM_LENGTH {
        return Err(SecretReferenceError::TooLong { length });
    }
    Ok(())
}

fn parse_path(provider: Provider, path: &str) -> Parsed {
    match provider {
        Provider::Gcp => parse_gcp(path),
        Provider::Aws => parse_aws(path),
        Provider::Vault => parse_vault(path),
        Provider::Env => parse_environment(path),
        Provider::File => parse_file(path),
        Provider::Keyring => {
            let (service, account) = alias_and_rest(provider, path, "a service", "an account")?;
            Ok(SecretReference::Keyring { service, account })
        }
        Provider::Exec => {
            let (alias, id) = alias_and_rest(provider, path, "an alias", "an id")?;
            Ok(SecretReference::Configured {
                source: ConfiguredSource::Exec,
                provider: alias,
                id,
            })
        }
    }
}

fn parse_gcp(text: &str) -> Parsed {
    let (path, fragment) = split_fragment(Provider::Gcp, text, "a version behind `#`")?;
    let segments: Vec<&str> = path.split('/').collect();
    let (project, name, version) = match *segments {
        [name] => (None, name, fragment),
        ["projects", project, "secrets", name] => (Some(project), name, fragment),
        ["projects", project, "secrets", name, "versions", version] if fragment.is_none() => {
            (Some(project), name, Some(version))
        }
        _ => {
            return Err(SecretReferenceError::unexpected(
                Provider::Gcp,
                "parts that do not belong together",
            ));
        }
    };
    // These become part of an address; the characters are those that Google allows.
    for (part, extra, missing) in [
        (Some(name), "", "a name"),
        (project, ".:", "a project"),
        (version, "", "a version"),
    ] {
        let Some(part) = part else { continue };
        if part.is_empty() {
            return Err(SecretReferenceError::missing(Provider::Gcp, missing));
        }
        let allowed =
            |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
        if !part
            .chars()
            .all(|character| allowed(character) || extra.contains(character))
        {
            return Err(SecretReferenceError::unexpected(
                Provider::Gcp,
                "a character other than letters, digits, `-` and `_`",
            ));
        }
    }
    Ok(SecretReference::Gcp {
        project: project.map(str::to_owned),
        name: name.to_owned(),
        version: version.map(str::to_owned),
    })
}

fn parse_aws(text: &str) -> Parsed {
    let (name, mut rest) = text.split_at(text.find(['#', '?']).unwrap_or(text.len()));
    if name.is_empty() {
        return Err(SecretReferenceError::missing(Provider::Aws, "a name"));
    }
    let (mut version, mut key) = (None, None);
    // `#` and `?` may come in either order, each once.
    while !rest.is_empty() {
        let (mark, after) = rest.split_at(1);
        let end = after.find(['#', '?']).unwrap_or(after.len());
        let (part, next) = after.split_at(end);
        let twice = if mark == "#" {
            version.replace(part).is_some()
        } else {
            key.replace(parse_key(part)?).is_some()
        };
        if twice {
            return Err(SecretReferenceError::unexpected(
                Provider::Aws,
                "a second `#` or `?`",
            ));
        }
        rest = next;
    }
    if version == Some("") {
        return Err(SecretReferenceError::missing(
            Provider::Aws,
            "a version or stage behind `#`",
        ));
    }
    Ok(SecretReference::Aws {
        name: name.to_owned(),
        version: version.map(str::to_owned),
        key,
    })
}

fn parse_key(query: &str) -> Result<String, SecretReferenceError> {
    let encoded = query.strip_prefix("key=").ok_or_else(|| {
        SecretReferenceError::unexpected(Provider::Aws, "a parameter other than `key`")
    })?;
    let key = percent_decode_str(encoded).decode_utf8().map_err(|_| {
        SecretReferenceError::unexpected(Provider::Aws, "a `key` that is not UTF-8")
    })?;
    if key.is_empty() {
        return Err(SecretReferenceError::missing(Provider::Aws, "a `key`"));
    }
    if key.contains(char::is_control) {
        return Err(SecretReferenceError::unexpected(
            Provider::Aws,
            "a control character in its `key`",
        ));
    }
    Ok(key.into_owned())
}

fn parse_vault(text: &str) -> Parsed {
    let (text, field) = split_fragment(Provider::Vault, text, "a field behind `#`")?;
    let (mount, path) = alias_and_rest(Provider::Vault, text, "a mount", "a path")?;
    // These become part of an address, where they would lead to another place.
    if [mount.as_str()]
        .into_iter()
        .chain(path.split('/'))
        .any(|segment| matches!(segment, "" | "." | ".."))
    {
        return Err(SecretReferenceError::unexpected(
            Provider::Vault,
            "an empty or dotted path segment",
        ));
    }
    Ok(SecretReference::Vault {
        mount,
        path,
        field: field.map(str::to_owned),
    })
}

fn parse_environment(variable: &str) -> Parsed {
    let refused =
        |character: char| character.is_whitespace() || matches!(character, '=' | '/' | '#' | '?');
    if variable.contains(refused) {
        return Err(SecretReferenceError::unexpected(
            Provider::Env,
            "a character that no variable has",
        ));
    }
    Ok(SecretReference::Environment {
        variable: variable.to_owned(),
    })
}

fn parse_file(text: &str) -> Parsed {
    let (path, pointer) = split_optional(text, '#');
    if let Some(pointer) = pointer {
        check_pointer(pointer)?;
    }
    Ok(SecretReference::File {
        path: FilePath::parse(path)?,
        pointer: pointer.map(str::to_owned),
    })
}

/// Checks the syntax of RFC 6901 §3; the empty pointer is refused, as `#` alone says nothing.
fn check_pointer(pointer: &str) -> Result<(), SecretReferenceError> {
    let escapes_are_complete = pointer
        .split('~')
        .skip(1)
        .all(|after| after.starts_with(['0', '1']));
    if pointer.starts_with('/') && escapes_are_complete {
        Ok(())
    } else {
        Err(SecretReferenceError::BadJsonPointer)
    }
}

/// Splits `FIRST/REST`, both of which must be there.
fn alias_and_rest(
    provider: Provider,
    text: &str,
    first_part: &'static str,
    rest_part: &'static str,
) -> Result<(String, String), SecretReferenceError> {
    let (first, rest) = split_optional(text, '/');
    if first.is_empty() {
        return Err(SecretReferenceError::missing(provider, first_part));
    }
    match rest {
        None | Some("") => Err(SecretReferenceError::missing(provider, rest_part)),
        Some(rest) => Ok((first.to_owned(), rest.to_owned())),
    }
}

/// Splits off the part behind `#`, which must not be empty.
fn split_fragment<'a>(
    provider: Provider,
    text: &'a str,
    part: &'static str,
) -> Result<(&'a str, Option<&'a str>), SecretReferenceError> {
    match split_optional(text, '#') {
        (_, Some("")) => Err(SecretReferenceError::missing(provider, part)),
        split => Ok(split),
    }
}

fn split_optional(text: &str, separator: char) -> (&str, Option<&str>) {
    text.split_once(separator)
        .map_or((text, None), |(before, after)| (before, Some(after)))
}
