//! How a client proves its identity at the token endpoint.

mod assertion;
mod key;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use openclaw_secrets::Secret;
use secrecy::zeroize::Zeroizing;
use url::form_urlencoded::byte_serialize;

use crate::asking::Form;
use crate::client::{Authentication, Client, Registration};
use crate::error::OAuthError;
use crate::resource::ConfiguredKeys;
use assertion::Assertion;

/// What is signed instead of showing a secret (RFC 7523 §2.2).
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// What a client proves its identity with.
#[derive(Clone, Copy)]
pub(crate) struct Proof<'a> {
    /// The client.
    pub(crate) client: &'a Client,
    /// What the configuration has for it.
    pub(crate) keys: &'a ConfiguredKeys,
    /// The identifier of the key.
    pub(crate) key_id: Option<&'a str>,
    /// To whom it is proved: the issuer, as its metadata say.
    pub(crate) issuer: &'a str,
    /// What the authorization server lets clients sign with, as far as it says so.
    pub(crate) signing_algorithms: &'a [String],
    /// The time in milliseconds since 1970.
    pub(crate) now: u64,
}

impl Proof<'_> {
    /// Adds the proof to what is posted.
    pub(crate) fn add_to(&self, form: &mut Form) -> Result<(), OAuthError> {
        let id = &self.client.id;
        match self.client.authentication {
            Authentication::None => {
                form.plain("client_id", id);
            }
            Authentication::ClientSecretBasic => {
                let secret = self.secret()?;
                form.authorize(basic(id, secret)?, secret);
                // RFC 6749 §3.2.1: it may be there as well, and servers that are made with MCP's
                // Python SDK find nobody without it.
                form.plain("client_id", id);
            }
            Authentication::ClientSecretPost => {
                let secret = self.secret()?;
                form.plain("client_id", id).hidden("client_secret", secret);
            }
            Authentication::PrivateKeyJwt => {
                let key = self.keys.private_key.as_ref().ok_or_else(|| {
                    OAuthError::lasting("the client signs with a private key, and there is none")
                        .hint("set `auth.privateKey`")
                })?;
                let assertion = Assertion {
                    client_id: id,
                    audience: self.issuer,
                    key_id: self.key_id,
                    algorithms: self.signing_algorithms,
                    now: self.now,
                };
                let signed = assertion.signed_with(key)?;
                form.plain("client_id", id)
                    .plain("client_assertion_type", ASSERTION_TYPE)
                    .hidden("client_assertion", &signed);
            }
        }
        Ok(())
    }

    fn secret(&self) -> Result<&Secret, OAuthError> {
        let (secret, missing) = match self.client.registration {
            Registration::Configured => (
                &self.keys.secret,
                OAuthError::lasting("the configured client needs a secret, and there is none")
                    .hint("set `auth.clientSecret`"),
            ),
            Registration::MetadataDocument | Registration::Dynamic => (
                &self.client.secret,
                OAuthError::client_unknown("the secret of the registered client is not there"),
            ),
        };
        secret.as_ref().ok_or(missing)
    }
}

/// How a client that was registered by hand proves its identity, by what it has and what the
/// authorization server takes.
pub(crate) fn of_configured(keys: &ConfiguredKeys, methods: Option<&[String]>) -> Authentication {
    match (&keys.private_key, &keys.secret) {
        // Who can sign does not show a secret.
        (Some(_), _) => Authentication::PrivateKeyJwt,
        (None, Some(_)) => with_secret(methods),
        (None, None) => Authentication::None,
    }
}

/// How a secret is shown: in the header unless only the body is taken (RFC 6749 §2.3.1).
pub(crate) fn with_secret(methods: Option<&[String]>) -> Authentication {
    let takes = |method: &str| methods.is_none_or(|all| all.iter().any(|own| own == method));
    if !takes("client_secret_basic") && takes("client_secret_post") {
        Authentication::ClientSecretPost
    } else {
        Authentication::ClientSecretBasic
    }
}

/// The header that shows a secret. Both parts are encoded as in a form first (RFC 6749 §2.3.1).
fn basic(id: &str, secret: &Secret) -> Result<HeaderValue, OAuthError> {
    let mut text = Zeroizing::new(String::with_capacity(3 * (id.len() + secret.len()) + 1));
    text.extend(byte_serialize(id.as_bytes()));
    text.push(':');
    text.extend(byte_serialize(secret.expose().as_bytes()));
    let encoded = Zeroizing::new(STANDARD.encode(text.as_bytes()));
    let header = Zeroizing::new(format!("Basic {}", *encoded));
    let mut header = HeaderValue::from_str(&header)
        .map_err(|_| OAuthError::lasting("the secret of the client can't be sent"))?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::public_client;

    fn keys(secret: bool, key: bool) -> ConfiguredKeys {
        ConfiguredKeys {
            secret: secret.then(|| Secret::new("s3cr3t:/ +ä")),
            private_key: key.then(|| Secret::new("no key")),
        }
    }

    fn form(client: &Client, keys: &ConfiguredKeys) -> Result<Form, OAuthError> {
        let proof = Proof {
            client,
            keys,
            key_id: None,
            issuer: "https://a.example",
            signing_algorithms: &[],
            now: 0,
        };
        let mut form = Form::default();
        proof.add_to(&mut form).map(|()| form)
    }

    fn client(authentication: Authentication, registration: Registration) -> Client {
        Client {
            id: "client 1".to_owned(),
            authentication,
            ..public_client(registration)
        }
    }

    #[test]
    fn a_public_client_says_its_name_only() {
        let client = client(Authentication::None, Registration::Configured);
        let form = form(&client, &keys(true, true)).unwrap();
        assert_eq!(form.body(), "client_id=client+1");
        assert!(form.authorization().is_none());
    }

    #[test]
    fn a_secret_in_the_header_is_encoded_twice_and_never_shown() {
        let client = client(Authentication::ClientSecretBasic, Registration::Configured);
        let form = form(&client, &keys(true, false)).unwrap();
        assert_eq!(form.body(), "client_id=client+1");
        let header = form.authorization().unwrap();
        let encoded = header.to_str().unwrap().strip_prefix("Basic ").unwrap();
        let decoded = String::from_utf8(STANDARD.decode(encoded).unwrap()).unwrap();
        assert_eq!(decoded, "client+1:s3cr3t%3A%2F+%2B%C3%A4");
        assert_eq!(format!("{header:?}"), "Sensitive");
    }

    #[test]
    fn a_secret_in_the_body_is_that_of_the_registration() {
        let mut client = client(Authentication::ClientSecretPost, Registration::Dynamic);
        client.secret = Some(Secret::new("own"));
        let form = form(&client, &keys(true, false)).unwrap();
        assert_eq!(form.body(), "client_id=client+1&client_secret=own");
    }

    #[test]
    fn what_is_not_there_is_missed_in_words() {
        for (authentication, registration, remedy, expected) in [
            (
                Authentication::ClientSecretBasic,
                Registration::Configured,
                crate::Remedy::Change,
                "the configured client needs a secret, and there is none",
            ),
            (
                Authentication::ClientSecretPost,
                Registration::Dynamic,
                crate::Remedy::Register,
                "the secret of the registered client is not there",
            ),
            (
                Authentication::PrivateKeyJwt,
                Registration::Configured,
                crate::Remedy::Change,
                "the client signs with a private key, and there is none",
            ),
        ] {
            let error = form(
                &client(authentication, registration),
                &ConfiguredKeys::default(),
            );
            let error = error.err().unwrap();
            assert_eq!(error.to_string(), expected);
            assert_eq!(error.remedy(), remedy);
        }
    }

    #[test]
    fn a_configured_client_does_what_it_can_and_the_server_takes() {
        let list = |methods: &[&str]| -> Option<Vec<String>> {
            Some(methods.iter().map(|&method| method.to_owned()).collect())
        };
        let (basic, post) = ("client_secret_basic", "client_secret_post");
        for (secret, key, methods, expected) in [
            (false, false, None, Authentication::None),
            (false, false, list(&[basic]), Authentication::None),
            (true, false, None, Authentication::ClientSecretBasic),
            (
                true,
                false,
                list(&[post, basic]),
                Authentication::ClientSecretBasic,
            ),
            (true, false, list(&[post]), Authentication::ClientSecretPost),
            (
                true,
                false,
                list(&["none"]),
                Authentication::ClientSecretBasic,
            ),
            (false, true, list(&[basic]), Authentication::PrivateKeyJwt),
            (true, true, None, Authentication::PrivateKeyJwt),
            (
                true,
                true,
                list(&["private_key_jwt"]),
                Authentication::PrivateKeyJwt,
            ),
            (true, true, list(&[post]), Authentication::PrivateKeyJwt),
        ] {
            let chosen = of_configured(&keys(secret, key), methods.as_deref());
            assert_eq!(chosen, expected, "{secret} {key} {methods:?}");
        }
    }
}
