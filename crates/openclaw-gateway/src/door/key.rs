//! The credential: what a request brings, and whether it fits.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header;
use http::request::Parts;
use ring::hmac;
use ring::rand::SystemRandom;

use crate::setup::Credential;

/// What a request brings.
pub(super) enum Presented {
    /// A token or password in a header that no page of others can send.
    Bearer(String),
    /// A password that a browser may send by itself.
    Basic(String),
    /// Something that can't be read, which fits nothing.
    Unreadable,
}

/// What a request brings, if it brings something.
pub(super) fn presented(request: &Parts) -> Option<Presented> {
    let mut values = request.headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?;
    let read = || {
        let text = std::str::from_utf8(value.as_bytes()).ok()?;
        // One blank separates them; more of them, and letters of any language, belong to what is brought.
        let (scheme, rest) = text.split_once(' ')?;
        if scheme.eq_ignore_ascii_case("bearer") {
            return Some(Presented::Bearer(rest.to_owned()));
        }
        if scheme.eq_ignore_ascii_case("basic") {
            let text = String::from_utf8(STANDARD.decode(rest.trim()).ok()?).ok()?;
            let (_, password) = text.split_once(':')?;
            return Some(Presented::Basic(password.to_owned()));
        }
        None
    };
    let first = read();
    // Of two one can't tell which is meant.
    if values.next().is_some() {
        return Some(Presented::Unreadable);
    }
    Some(first.unwrap_or(Presented::Unreadable))
}

/// How many characters a token has at least that nobody can guess. Those that we make have more; one that
/// somebody chose may be a word.
const UNGUESSABLE: usize = 32;

/// What fits.
pub(super) struct Key {
    kind: Kind,
    /// Whether it is short enough that trying would lead somewhere.
    can_be_guessed: bool,
    // Both sides are hashed with a key that nobody knows, so that the time that comparing takes says
    // nothing about either, not even about lengths.
    hashing: Option<(hmac::Key, hmac::Tag)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nothing,
    Token,
    Password,
}

impl Key {
    pub(super) fn new(credential: &Credential) -> Self {
        let (kind, secret) = match credential {
            Credential::Nothing => (Kind::Nothing, None),
            Credential::Token(secret) => (Kind::Token, Some(secret)),
            Credential::Password(secret) => (Kind::Password, Some(secret)),
        };
        let can_be_guessed = match credential {
            Credential::Nothing => false,
            Credential::Token(secret) => secret.expose().chars().count() < UNGUESSABLE,
            Credential::Password(_) => true,
        };
        // An empty secret would let everybody in, and a system without random numbers must let in nobody.
        let hashing = secret
            .filter(|secret| !secret.is_empty())
            .and_then(|secret| {
                let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok()?;
                let tag = hmac::sign(&key, secret.expose().as_bytes());
                Some((key, tag))
            });
        Self {
            kind,
            can_be_guessed,
            hashing,
        }
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.kind == Kind::Nothing
    }

    /// Whether only so many may be tried: passwords, and tokens that are no longer than a password.
    pub(super) fn can_be_guessed(&self) -> bool {
        self.can_be_guessed
    }

    pub(super) fn fits(&self, presented: &Presented) -> bool {
        let text = match (self.kind, presented) {
            (Kind::Nothing, _) => return true,
            (Kind::Token | Kind::Password, Presented::Bearer(text))
            | (Kind::Password, Presented::Basic(text)) => text,
            (Kind::Token, Presented::Basic(_)) | (_, Presented::Unreadable) => return false,
        };
        self.hashing
            .as_ref()
            .is_some_and(|(key, tag)| hmac::verify(key, text.as_bytes(), tag.as_ref()).is_ok())
    }
}
