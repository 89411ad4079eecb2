//! Who talks to the endpoints for programs, and whether it is really them (RFC 6749 §2.3).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::assertion::{self, Assertion};
use super::clients::{Known, Proof};
use super::form::{Form, Refused};
use super::options::{AssertionAudience, Method};
use super::places::Endpoint;
use super::world::World;
use crate::stand_in::Asked;

/// What a client shows of itself.
enum Shown<'form> {
    Nothing,
    Secret(Method, String),
    Signed(&'form str),
}

impl World {
    /// The client that asks, once it has proved its identity.
    pub(super) fn identify(
        &mut self,
        asked: &Asked,
        form: &Form,
    ) -> Result<(String, Known), Refused> {
        let (id, shown) = show(asked, form)?;
        let client = self.client(&id);
        let client = client.ok_or_else(|| Refused::client("there is no such client"))?;
        match (&client.proof, shown) {
            (Proof::None, Shown::Nothing) => {}
            (
                Proof::Secret {
                    secret,
                    methods,
                    expires,
                },
                Shown::Secret(method, shown),
            ) => {
                if !methods.contains(&method) {
                    let words = format!("{} is not how you prove your identity", method.name());
                    return Err(Refused::client(words));
                }
                if *secret != shown {
                    return Err(Refused::client("the secret is wrong"));
                }
                if expires.is_some_and(|expires| expires <= assertion::now()) {
                    return Err(Refused::client("the secret has expired"));
                }
            }
            (Proof::Key(key), Shown::Signed(text)) => {
                let wrong = |words: &str| Refused::client(words);
                let assertion = Assertion::read(text).ok_or_else(|| wrong("this is no JWT"))?;
                let audiences = self.audiences();
                let now = assertion::now();
                assertion
                    .check(key, &audiences, &mut self.assertions, now)
                    .map_err(wrong)?;
            }
            _ => {
                let words = "this is not how you prove your identity";
                return Err(Refused::client(words));
            }
        }
        Ok((id, client))
    }

    /// Whom something signed may be for.
    fn audiences(&self) -> Vec<String> {
        let issuer = self.places.issuer(&self.options);
        let endpoint = self.places.endpoint(&self.options, Endpoint::Token);
        match self.options.clients.assertion_audience {
            AssertionAudience::Either => vec![issuer, endpoint],
            AssertionAudience::Issuer => vec![issuer],
            AssertionAudience::TokenEndpoint => vec![endpoint],
        }
    }
}

/// Who a client says it is, and what it shows. There may be one way of doing that only.
fn show<'form>(asked: &Asked, form: &'form Form) -> Result<(String, Shown<'form>), Refused> {
    let named = form.get("client_id");
    let header = asked.header("authorization").map(basic).transpose()?;
    let secret = form.get("client_secret");
    let assertion = form.get("client_assertion");
    let (id, shown) = match (header, secret, assertion) {
        (Some((id, secret)), None, None) => (Some(id), Shown::Secret(Method::Basic, secret)),
        (None, Some(secret), None) => (None, Shown::Secret(Method::Post, secret.to_owned())),
        (None, None, Some(text)) => {
            if form.get("client_assertion_type") != Some(assertion::KIND) {
                return Err(Refused::request("client_assertion_type is wrong"));
            }
            let client = Assertion::read(text).and_then(|it| it.client().map(str::to_owned));
            let client = client.ok_or_else(|| Refused::client("this is no JWT"))?;
            (Some(client), Shown::Signed(text))
        }
        (None, None, None) => (None, Shown::Nothing),
        _ => {
            return Err(Refused::request("more than one way of proving an identity"));
        }
    };
    match (id, named) {
        (Some(id), None) => Ok((id, shown)),
        (Some(id), Some(named)) if id == named => Ok((id, shown)),
        (Some(_), Some(_)) => Err(Refused::request("client_id is somebody else")),
        (None, Some(named)) => Ok((named.to_owned(), shown)),
        (None, None) => Err(Refused::client("client_id is missing")),
    }
}

/// Identifier and secret, each encoded like a value in a form (RFC 6749 §2.3.1).
fn basic(header: &str) -> Result<(String, String), Refused> {
    let wrong = || Refused::client("the header Authorization is wrong");
    let encoded = header.strip_prefix("Basic ").ok_or_else(wrong)?;
    let bytes = STANDARD.decode(encoded).map_err(|_| wrong())?;
    let text = String::from_utf8(bytes).map_err(|_| wrong())?;
    let (id, secret) = text.split_once(':').ok_or_else(wrong)?;
    Ok((
        decoded(id).ok_or_else(wrong)?,
        decoded(secret).ok_or_else(wrong)?,
    ))
}

/// A value without its encoding; nothing if something in it should have been encoded.
fn decoded(value: &str) -> Option<String> {
    let is_encoded = |it: char| it.is_ascii_alphanumeric() || "%+*-._~".contains(it);
    if !value.chars().all(is_encoded) {
        return None;
    }
    let form = format!("value={value}");
    let mut pairs = url::form_urlencoded::parse(form.as_bytes());
    pairs.next().map(|(_, value)| value.into_owned())
}
