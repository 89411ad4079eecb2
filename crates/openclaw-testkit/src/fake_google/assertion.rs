//! The tokens that service accounts sign themselves (RFC 7519, and Google's AIP-4111).

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::Value as Json;

use super::ACCOUNT;

/// The key of the service account. It was made for these tests and opens nothing.
pub(super) const KEY: &str = include_str!("test-only-key.pem");
/// What tokens must be for.
pub(super) const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
/// How long such a token may be good at most, with some room for clocks that differ.
const LONGEST_LIFE: u64 = 3600 + 60;

/// Checks a token, and says what is wrong with it.
pub(super) fn check(token: &str) -> Result<(), &'static str> {
    let (signed, signature) = token.rsplit_once('.').ok_or("not a JWT")?;
    let (header, claims) = signed.split_once('.').ok_or("not a JWT")?;
    let signature = URL_SAFE_NO_PAD
        .decode(signature)
        .map_err(|_| "the signature is not base64")?;
    let public = public_key().ok_or("the test has no key")?;
    UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public)
        .verify(signed.as_bytes(), &signature)
        .map_err(|_| "the signature is wrong")?;
    let header = json(header).ok_or("the header is not JSON")?;
    if header["alg"] != "RS256" || header["typ"] != "JWT" || header["kid"] != "test-only" {
        return Err("the header is wrong");
    }
    let claims = json(claims).ok_or("the claims are not JSON")?;
    if claims["iss"] != ACCOUNT || claims["sub"] != ACCOUNT {
        return Err("it is of another account");
    }
    // Either an audience or scopes; with scopes it works for all services.
    if !claims["aud"].is_null() || claims["scope"] != SCOPE {
        return Err("the scope is wrong");
    }
    let time = |name: &str| claims[name].as_u64().ok_or("a time is missing");
    let (issued, expires) = (time("iat")?, time("exp")?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_err(|_| "the clock is wrong")?.as_secs();
    if issued > now || expires <= now || expires - issued > LONGEST_LIFE {
        return Err("it is not good now");
    }
    Ok(())
}

fn json(part: &str) -> Option<Json> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

fn public_key() -> Option<Vec<u8>> {
    let lines = KEY.lines().filter(|line| !line.starts_with("-----"));
    let key = STANDARD.decode(lines.collect::<String>()).ok()?;
    let pair = RsaKeyPair::from_pkcs8(&key).ok()?;
    Some(pair.public_key().as_ref().to_vec())
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use serde_json::json;

    use super::*;

    fn signed(header: &Json, claims: &Json) -> String {
        let part = |json: &Json| URL_SAFE_NO_PAD.encode(json.to_string());
        let text = format!("{}.{}", part(header), part(claims));
        let lines = KEY.lines().filter(|line| !line.starts_with("-----"));
        let key = STANDARD.decode(lines.collect::<String>()).unwrap();
        let pair = RsaKeyPair::from_pkcs8(&key).unwrap();
        let mut signature = vec![0; pair.public().modulus_len()];
        let (padding, random) = (&ring::signature::RSA_PKCS1_SHA256, SystemRandom::new());
        pair.sign(padding, &random, text.as_bytes(), &mut signature)
            .unwrap();
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    #[test]
    fn only_tokens_that_are_right_in_every_way_are_accepted() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let now = now.as_secs();
        let header = json!({ "alg": "RS256", "typ": "JWT", "kid": "test-only" });
        let claims = json!({
            "iss": ACCOUNT, "sub": ACCOUNT, "scope": SCOPE, "iat": now - 5, "exp": now + 3000,
        });
        let good = signed(&header, &claims);
        assert_eq!(check(&good), Ok(()));
        let with = |name: &str, value: Json| {
            let mut claims = claims.clone();
            claims[name] = value;
            check(&signed(&header, &claims))
        };
        for (name, value) in [
            ("iss", json!("other@example.com")),
            ("sub", json!("other@example.com")),
            ("scope", json!("email")),
            ("aud", json!("https://example.com/")),
            ("exp", json!(now - 1)),
            ("exp", json!(now + 7200)),
            ("iat", json!(now + 600)),
            ("iat", json!("now")),
        ] {
            assert!(with(name, value.clone()).is_err(), "{name} {value}");
        }
        let other = json!({ "alg": "none", "typ": "JWT", "kid": "test-only" });
        assert!(check(&signed(&other, &claims)).is_err());
        let (text, _) = good.rsplit_once('.').unwrap();
        let empty = URL_SAFE_NO_PAD.encode([0; 256]);
        assert_eq!(
            check(&format!("{text}.{empty}")),
            Err("the signature is wrong")
        );
        assert!(check("").is_err());
    }
}
