//! Reading what a person brings.

use openclaw_secrets::Secret;
use secrecy::zeroize::Zeroizing;
use url::form_urlencoded;

use super::{Brought, Callback, Extent};
use crate::error::OAuthError;

/// How long it may be, in bytes.
const LONGEST: usize = 16 * 1024;

/// Reads what a person brings.
pub(super) fn read(text: &str) -> Result<Callback, OAuthError> {
    if text.len() > LONGEST {
        return Err(unreadable("it is too long"));
    }
    // No blank belongs to a code or an address: where there are some, a terminal has broken a line.
    let mut clean = Zeroizing::new(String::with_capacity(text.len()));
    clean.extend(text.chars().filter(|character| !character.is_whitespace()));
    let text = clean.trim_matches(['"', '\'', '`', '<', '>']);
    if text.is_empty() {
        return Err(unreadable("it is empty"));
    }
    let (before, fragment) = text.split_once('#').unwrap_or((text, ""));
    let query = before.split_once('?').map_or(before, |(_, query)| query);
    let mut parameters = Parameters::default();
    for pairs in [query, fragment] {
        for (name, value) in form_urlencoded::parse(pairs.as_bytes()) {
            parameters.add(&name, &value)?;
        }
    }
    if let Some(brought) = parameters.brought() {
        return Ok(Callback {
            brought,
            state: parameters.state,
            issuer: parameters.issuer,
            extent: Extent::Whole,
        });
    }
    let is_address = text.contains("://") || text.contains('?') || text.starts_with('/');
    if is_address || parameters.state.is_some() || before.is_empty() {
        return Err(unreadable("there is no `code` in it"));
    }
    Ok(Callback {
        brought: Brought::Code(decoded(before)),
        state: (!fragment.is_empty()).then(|| decoded(fragment)),
        issuer: None,
        extent: Extent::Part,
    })
}

/// What is understood of an answer; what is empty counts as absent.
#[derive(Default)]
struct Parameters {
    code: Option<Secret>,
    state: Option<Secret>,
    issuer: Option<String>,
    error: Option<String>,
    description: Option<String>,
}

impl Parameters {
    fn add(&mut self, name: &str, value: &str) -> Result<(), OAuthError> {
        if value.is_empty() {
            return Ok(());
        }
        let is_second = match name {
            "code" => self.code.replace(Secret::new(value)).is_some(),
            "state" => self.state.replace(Secret::new(value)).is_some(),
            "iss" => self.issuer.replace(value.to_owned()).is_some(),
            "error" => self.error.replace(value.to_owned()).is_some(),
            "error_description" => {
                self.description = Some(value.to_owned());
                false
            }
            _ => false,
        };
        // RFC 6749 §3.1: nobody can say which of the two is meant.
        if is_second {
            let reason = format!("`{name}` is there twice");
            return Err(unreadable(&reason));
        }
        Ok(())
    }

    fn brought(&mut self) -> Option<Brought> {
        if let Some(code) = self.error.take() {
            let description = self.description.take();
            return Some(Brought::Refusal { code, description });
        }
        self.code.take().map(Brought::Code)
    }
}

/// A text that may have been copied out of an address, where some characters are written as `%2F`.
fn decoded(text: &str) -> Secret {
    let is_encoded = |(at, _): (usize, &str)| {
        let digits = text.get(at + 1..at + 3).unwrap_or_default();
        digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    if !text.contains('%') || !text.match_indices('%').all(is_encoded) {
        return Secret::new(text);
    }
    // A plus is a plus here.
    let pair = Zeroizing::new(text.replace('&', "%26").replace('+', "%2B"));
    let pair = Zeroizing::new(format!("={}", *pair));
    let value = form_urlencoded::parse(pair.as_bytes()).next();
    Secret::new(value.map_or_else(|| text.to_owned(), |(_, value)| value.into_owned()))
}

fn unreadable(reason: &str) -> OAuthError {
    OAuthError::lasting(format!("this is not what a login ends with: {reason}")).hint(
        "bring the code, or the whole address that the browser was sent to after the login, in \
         quotes",
    )
}
