//! What a client signs to prove its identity: `private_key_jwt` (RFC 7523, OIDC Core §9).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openclaw_secrets::Secret;
use serde_json::{Value as Json, json};

use super::key::PrivateKey;
use crate::error::OAuthError;
use crate::random::unguessable;

/// How many seconds ago it was signed: their clock may be a little behind ours.
const SINCE: u64 = 10;
/// How many seconds it is good for.
const LIFE: u64 = 5 * 60;

/// What is said about the client.
pub(super) struct Assertion<'a> {
    pub(super) client_id: &'a str,
    /// To whom: the issuer, and no address of it. One that is good for an address of one
    /// authorization server could be made good for another that names the same address.
    pub(super) audience: &'a str,
    pub(super) key_id: Option<&'a str>,
    /// What the authorization server takes, as far as it says so.
    pub(super) algorithms: &'a [String],
    /// The time in milliseconds since 1970.
    pub(super) now: u64,
}

impl Assertion<'_> {
    /// The signed assertion, good once.
    pub(super) fn signed_with(&self, key: &Secret) -> Result<Secret, OAuthError> {
        let key = PrivateKey::read(key)?;
        let algorithm = key.algorithm(self.algorithms)?;
        let mut header = json!({ "alg": algorithm.name, "typ": "JWT" });
        if let Some(key_id) = self.key_id {
            header["kid"] = json!(key_id);
        }
        let issued = (self.now / 1000).saturating_sub(SINCE);
        let claims = json!({
            "iss": self.client_id,
            "sub": self.client_id,
            "aud": self.audience,
            "jti": unguessable(16)?.expose(),
            "iat": issued,
            "exp": issued.saturating_add(LIFE),
        });
        let part = |json: &Json| URL_SAFE_NO_PAD.encode(json.to_string());
        let text = format!("{}.{}", part(&header), part(&claims));
        let signature = key.sign(algorithm, &text).ok_or_else(|| {
            OAuthError::lasting("the private key of the client can't sign anything")
        })?;
        let signature = URL_SAFE_NO_PAD.encode(signature);
        Ok(Secret::new(format!("{text}.{signature}")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::key::tests::p256;
    use super::*;

    fn parts(signed: &Secret) -> (Json, Json) {
        let parts: Vec<&str> = signed.expose().split('.').collect();
        assert_eq!(parts.len(), 3);
        let json =
            |part: &str| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap();
        (json(parts[0]), json(parts[1]))
    }

    #[test]
    fn a_client_says_who_it_is_to_one_issuer_for_a_short_time() {
        let key = p256();
        let mut assertion = Assertion {
            client_id: "client 1",
            audience: "https://a.example",
            key_id: Some("key-7"),
            algorithms: &[],
            now: 1_700_000_000_999,
        };
        let (header, mut claims) = parts(&assertion.signed_with(&key).unwrap());
        assert_eq!(
            header,
            json!({ "alg": "ES256", "typ": "JWT", "kid": "key-7" })
        );
        let name = claims.as_object_mut().unwrap().remove("jti").unwrap();
        assert_eq!(
            claims,
            json!({
                "iss": "client 1",
                "sub": "client 1",
                "aud": "https://a.example",
                "iat": 1_699_999_990_u64,
                "exp": 1_700_000_290_u64,
            })
        );
        assertion.key_id = None;
        assertion.now = 0;
        let (header, claims) = parts(&assertion.signed_with(&key).unwrap());
        assert_eq!(header, json!({ "alg": "ES256", "typ": "JWT" }));
        assert_eq!(claims["exp"], 300);
        assert_ne!(claims["jti"], name);
    }
}
