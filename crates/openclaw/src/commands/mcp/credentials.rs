//! Which credentials of a definition can be kept in the keyring, and what stands in their place.
//!
//! Definitions go in and come out; the keyring itself is in `keeping`.

mod referred;

use std::fmt;

use openclaw_secrets::{Secret, SecretReference, contains_secret_uri, looks_like_credential};
use serde_json::{Map, Value as Json, json};

pub(super) use referred::{Referred, is_ours, is_referred_to, referred};

/// The service under which credentials are kept; a profile has its own.
const SERVICE: &str = "openclaw";
/// How large a credential may be to be kept.
const LARGEST: usize = 64 * 1024;
/// How long the name of an account may be. Windows takes 513 characters for both names.
const LONGEST_ACCOUNT: usize = 200;
/// Words before the credential of a header. Behind `Authorization` there may be others.
const SCHEMES: [&str; 4] = ["bearer", "basic", "token", "apikey"];

/// A place in a definition that can hold a reference to a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// A variable of a program.
    Variable(String),
    /// A header.
    Header(String),
    /// The key that is sent as a bearer token.
    ApiKey,
    /// The secret of an OAuth client, in the block of this name.
    ClientSecret(&'static str),
}

impl Field {
    /// The short name that a person knows it by.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Variable(name) | Self::Header(name) => name.clone(),
            Self::ApiKey | Self::ClientSecret(_) => self.to_string(),
        }
    }

    /// Whether both are one place: names of headers have no case, and both blocks of OAuth settings
    /// mean the same.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Header(one), Self::Header(two)) => one.eq_ignore_ascii_case(two),
            (Self::ClientSecret(_), Self::ClientSecret(_)) => true,
            (one, two) => one == two,
        }
    }
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
pub(super) struct Credential {
    pub(super) field: Field,
    /// What stands before it, such as `Bearer `.
    pub(super) prefix: String,
    pub(super) value: Secret,
}

/// The service under which the credentials of a profile are kept.
pub(super) fn service(profile: Option<&str>) -> String {
    match profile {
        Some(profile) => format!("{SERVICE}-{profile}"),
        None => SERVICE.to_owned(),
    }
}

/// The credentials of a definition that a reference can stand for. What is in the address or the
/// arguments is not among them: no reference is read there.
pub(super) fn credentials(entry: &Map<String, Json>) -> Vec<Credential> {
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
/// would not be put in any more, and a line break at the end would be lost.
fn can_be_kept(text: &str) -> bool {
    text.len() <= LARGEST
        && !text.contains("${")
        && !text.contains('\0')
        && !text.ends_with('\n')
        && !contains_secret_uri(text)
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

/// The name under which a credential is kept. Where that is taken, `attempt` counts from 2.
///
/// It can be part of a reference whatever the names are.
pub(super) fn account(server: &str, field: &Field, attempt: usize) -> String {
    let whole = format!("{server}.{field}");
    let mut name: String = whole
        .chars()
        .map(|character| {
            if character.is_control() {
                '_'
            } else {
                character
            }
        })
        .collect();
    if name.chars().count() > LONGEST_ACCOUNT {
        let digest = ring::digest::digest(&ring::digest::SHA256, whole.as_bytes());
        let digest = digest.as_ref().iter().take(8);
        let digest: String = digest.map(|byte| format!("{byte:02x}")).collect();
        name = name.chars().take(LONGEST_ACCOUNT - 17).collect();
        name.push_str(&format!("-{digest}"));
    }
    if attempt > 1 {
        name.push_str(&format!("-{attempt}"));
    }
    name
}

/// The reference to an entry of the keyring.
pub(super) fn reference(service: &str, account: &str) -> Option<SecretReference> {
    format!("secret://keyring/{service}/{account}").parse().ok()
}

/// Puts a reference in the place of a credential.
pub(super) fn put(entry: &mut Map<String, Json>, credential: &Credential, to: &SecretReference) {
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
