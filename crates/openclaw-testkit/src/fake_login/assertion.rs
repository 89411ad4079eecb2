//! What clients sign to prove their identity (RFC 7523 §3, `private_key_jwt`).

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value as Json;

use super::public_key::PublicKey;

/// The type of what is signed.
pub(super) const KIND: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// How long something signed may be good at most.
const LONGEST_LIFE: i64 = 600;
/// By how much clocks may differ.
const SLACK: i64 = 30;

/// Something signed, taken apart. Nothing is known about it until it is checked.
pub(super) struct Assertion<'text> {
    algorithm: String,
    claims: Json,
    signed: &'text [u8],
    signature: Vec<u8>,
}

impl<'text> Assertion<'text> {
    pub(super) fn read(text: &'text str) -> Option<Self> {
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let json = |part: &str| -> Option<Json> {
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
        };
        Some(Self {
            algorithm: json(header)?["alg"].as_str()?.to_owned(),
            claims: json(claims)?,
            signed: signed.as_bytes(),
            signature: URL_SAFE_NO_PAD.decode(signature).ok()?,
        })
    }

    /// Who claims to have signed it.
    pub(super) fn client(&self) -> Option<&str> {
        self.claims["sub"].as_str()
    }

    /// Checks it at the time of `now`; says what is wrong with it.
    pub(super) fn check(
        &self,
        key: &PublicKey,
        audiences: &[String],
        seen: &mut BTreeSet<String>,
        now: i64,
    ) -> Result<(), &'static str> {
        if !key.has_signed(&self.algorithm, self.signed, &self.signature) {
            return Err("the signature is wrong");
        }
        if self.claims["iss"] != self.claims["sub"] {
            return Err("iss and sub are not the same");
        }
        let is_ours = |it: &Json| {
            it.as_str()
                .is_some_and(|it| audiences.iter().any(|known| known == it))
        };
        let is_for_us = match &self.claims["aud"] {
            Json::Array(all) => all.iter().any(is_ours),
            one => is_ours(one),
        };
        if !is_for_us {
            return Err("it is for another audience");
        }
        let expires = self.claims["exp"].as_i64().ok_or("exp is missing")?;
        if expires <= now - SLACK {
            return Err("it has expired");
        }
        if expires > now + LONGEST_LIFE {
            return Err("it is good for too long");
        }
        let issued = self.claims["iat"].as_i64().ok_or("iat is missing")?;
        if issued > now + SLACK {
            return Err("it was issued in the future");
        }
        let id = self.claims["jti"].as_str().filter(|id| !id.is_empty());
        if !seen.insert(id.ok_or("jti is missing")?.to_owned()) {
            return Err("it came before");
        }
        Ok(())
    }
}

/// What the clock says, in seconds since 1970.
pub(super) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(now.unwrap_or_default().as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use rcgen::{KeyPair, SigningKey as _};
    use serde_json::json;

    use super::*;

    const NOW: i64 = 2_000_000_000;

    /// The signatures of rcgen are DER; those of a JWT are not, so only Ed25519 can be used as it is.
    fn signed(pair: &KeyPair, claims: &Json) -> String {
        let part = |json: &Json| URL_SAFE_NO_PAD.encode(json.to_string());
        let text = format!("{}.{}", part(&json!({ "alg": "EdDSA" })), part(claims));
        let signature = pair.sign(text.as_bytes()).unwrap();
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn pair() -> (KeyPair, PublicKey) {
        let pair = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
        let key = PublicKey::read(&pair.public_key_pem()).unwrap();
        (pair, key)
    }

    fn claims() -> Json {
        json!({
            "iss": "client", "sub": "client", "aud": "https://login.example", "jti": "1",
            "iat": NOW, "exp": NOW + 60,
        })
    }

    fn check(text: &str, key: &PublicKey) -> Result<(), &'static str> {
        let audiences = ["https://login.example".to_owned()];
        let assertion = Assertion::read(text).unwrap();
        assertion.check(key, &audiences, &mut BTreeSet::new(), NOW)
    }

    #[test]
    fn what_is_right_is_accepted_once() {
        let (pair, key) = pair();
        let text = signed(&pair, &claims());
        assert_eq!(check(&text, &key), Ok(()));
        let mut seen = BTreeSet::from(["1".to_owned()]);
        let assertion = Assertion::read(&text).unwrap();
        assert_eq!(assertion.client(), Some("client"));
        let audiences = ["https://login.example".to_owned()];
        let again = assertion.check(&key, &audiences, &mut seen, NOW);
        assert_eq!(again, Err("it came before"));
        let mut claims = claims();
        claims["aud"] = json!(["https://other.example", "https://login.example"]);
        assert_eq!(check(&signed(&pair, &claims), &key), Ok(()));
    }

    #[test]
    fn everything_else_is_refused() {
        let (pair, key) = pair();
        let (_, other) = self::pair();
        let text = signed(&pair, &claims());
        assert_eq!(check(&text, &other), Err("the signature is wrong"));
        for (name, value, words) in [
            ("iss", json!("other"), "iss and sub are not the same"),
            (
                "aud",
                json!("https://login.example/"),
                "it is for another audience",
            ),
            ("aud", Json::Null, "it is for another audience"),
            ("exp", json!(NOW - 31), "it has expired"),
            ("exp", json!(NOW + 601), "it is good for too long"),
            ("exp", Json::Null, "exp is missing"),
            ("iat", json!(NOW + 31), "it was issued in the future"),
            ("jti", json!(""), "jti is missing"),
        ] {
            let mut claims = claims();
            claims[name] = value;
            assert_eq!(check(&signed(&pair, &claims), &key), Err(words), "{name}");
        }
        for text in ["", "a.b", "a.b.c", "..", "e30.e30."] {
            assert!(Assertion::read(text).is_none(), "{text}");
        }
    }
}
