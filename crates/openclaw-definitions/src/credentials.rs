//! Which credentials of a definition can be kept in the keyring, and what stands in their place.
//!
//! Definitions go in and come out; the keyring itself is in `keeping`.

mod owner;

use std::fmt;

use openclaw_engine::ServerEntry;
use openclaw_secrets::{Secret, SecretReference, contains_secret_uri, looks_like_credential};
use serde_json::{Map, Value as Json, json};

pub(crate) use owner::{OwnEntry, Owner};

/// How large a credential may be to be kept.
const LARGEST: usize = 64 * 1024;
/// Words before the credential of a header. Behind `Authorization` there may be others.
const SCHEMES: [&str; 4] = ["bearer", "basic", "token", "apikey"];

/// A place in a definition that can hold a reference to a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// A variable of a program.
    Variable(String),
    /// A header.
    Header(String),
    /// The key that is sent as a bearer token.
    ApiKey,
    /// The secret of an OAuth client, in the block of this name.
    ClientSecret(&'static str),
}

/// The path in the definition.
impl fmt::Display for Field {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(formatter, "env.{name}"),
            Self::Header(name) => write!(formatter, "headers.{name}"),
            Self::ApiKey => formatter.write_str("apiKey"),
            Self::ClientSecret(block) => write!(formatter, "{block}.clientSecret"),
        }
    }
}

/// A credential that stands in a definition as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Credential {
    pub(crate) field: Field,
    /// What stands before it, such as `Bearer `.
    pub(crate) prefix: String,
    pub(crate) value: Secret,
}

/// The credentials of a definition that a reference can stand for. What is in the address or the
/// arguments is not among them: no reference is read there.
pub(crate) fn credentials(entry: &Map<String, Json>) -> Vec<Credential> {
    let mut found = Vec::new();
    let mut look = |field: Field, name: &str, value: &Json| {
        let Some(text) = value.as_str() else { return };
        if !looks_like_credential(name, text) || !can_be_kept(text) {
            return;
        }
        let (prefix, value) = match &field {
            Field::Header(name) => split_scheme(name, text),
            _ => ("", text),
        };
        if !value.is_empty() {
            found.push(Credential {
                prefix: prefix.to_owned(),
                value: Secret::new(value),
                field,
            });
        }
    };
    let object = |key: &str| entry.get(key).and_then(Json::as_object);
    for (name, value) in object("env").into_iter().flatten() {
        look(Field::Variable(name.clone()), name, value);
    }
    for (name, value) in object("headers").into_iter().flatten() {
        look(Field::Header(name.clone()), name, value);
    }
    if let Some(value) = entry.get("apiKey") {
        look(Field::ApiKey, "apiKey", value);
    }
    for block in ["auth", "oauth"] {
        if let Some(value) = object(block).and_then(|block| block.get("clientSecret")) {
            look(Field::ClientSecret(block), "clientSecret", value);
        }
    }
    found
}

/// Whether the keyring gives back exactly what a definition with this text means. Variables in it
/// would not be put in any more.
fn can_be_kept(text: &str) -> bool {
    text.len() < LARGEST
        && !text.contains("${")
        && !text.contains('\0')
        && !contains_secret_uri(text)
        && !text.split(' ').any(is_misspelt_reference)
}

/// Whether a text was meant as a reference, such as `secret:/env/X`: it is no credential.
fn is_misspelt_reference(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let rest = text.strip_prefix("secret").unwrap_or_default();
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    rest.starts_with([':', '/']) && rest.contains('/')
}

/// Splits `Bearer xyz` behind the space.
fn split_scheme<'t>(header: &str, text: &'t str) -> (&'t str, &'t str) {
    let Some((scheme, rest)) = text.split_once(' ') else {
        return ("", text);
    };
    let is_known = SCHEMES
        .iter()
        .any(|known| known.eq_ignore_ascii_case(scheme));
    let is_word = !scheme.is_empty()
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let name = header.to_ascii_lowercase();
    if is_known || (is_word && name.ends_with("authorization")) {
        let credential = rest.trim_start();
        text.split_at(text.len() - credential.len())
    } else {
        ("", text)
    }
}

/// The reference that stands in a definition in the place of a credential, behind the same text.
pub(crate) fn reference_in(entry: &Json, credential: &Credential) -> Option<SecretReference> {
    let value = match &credential.field {
        Field::ApiKey => entry.get("apiKey"),
        Field::Variable(name) => entry.get("env")?.get(name),
        Field::Header(name) => entry.get("headers")?.get(name),
        Field::ClientSecret(block) => entry.get(block)?.get("clientSecret"),
    }?;
    let (prefix, reference) = match value {
        Json::String(text) => ("", text.as_str()),
        object => (
            object.get("prefix").and_then(Json::as_str).unwrap_or(""),
            object.get("secret")?.as_str()?,
        ),
    };
    let is_same = prefix == credential.prefix;
    is_same.then(|| reference.parse().ok())?
}

/// Whether a definition holds credentials that the keyring can keep.
pub(crate) fn has_credentials(entry: &ServerEntry) -> bool {
    !credentials(&entry.0).is_empty()
}

/// Whether what is written refers to the keyring where a definition has credentials.
pub(crate) fn refers_to_keyring(entry: &ServerEntry, written: &Json) -> bool {
    let in_keyring = |reference| matches!(reference, SecretReference::Keyring { .. });
    credentials(&entry.0)
        .iter()
        .any(|it| reference_in(written, it).is_some_and(in_keyring))
}

/// Puts a reference in the place of a credential.
pub(crate) fn put(entry: &mut Map<String, Json>, credential: &Credential, to: &SecretReference) {
    let reference = to.to_string();
    let value = match credential.prefix.as_str() {
        "" => json!(reference),
        prefix => json!({ "prefix": prefix, "secret": reference }),
    };
    let (object, key) = match &credential.field {
        Field::ApiKey => {
            entry.insert("apiKey".to_owned(), value);
            return;
        }
        Field::Variable(name) => ("env", name.as_str()),
        Field::Header(name) => ("headers", name.as_str()),
        Field::ClientSecret(block) => (*block, "clientSecret"),
    };
    if let Some(place) = entry.get_mut(object).and_then(|it| it.get_mut(key)) {
        *place = value;
    }
}

#[cfg(test)]
mod tests;
