//! What service accounts sign: tokens for all services (RFC 7519, and Google's AIP-4111), and what
//! they get other tokens for (RFC 7523).

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::Value as Json;

use super::ACCOUNT;

/// The key of the service account. It was made for these tests and opens nothing.
pub(super) const KEY: &str = include_str!("test-only-key.pem");
/// What tokens must be for.
pub(super) const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
/// How long something signed may be good at most.
const LONGEST_LIFE: i64 = 3600;
/// By how much clocks may differ.
const SLACK: i64 = 60;

/// What is wrong with something signed, in the words that Google has for it.
pub(super) const TIMES: &str = "Invalid JWT: Token must be a short-lived token (60 minutes) and in \
                                a reasonable timeframe. Check your iat and exp values in the JWT \
                                claim.";
pub(super) const SIGNATURE: &str = "Invalid JWT Signature.";
pub(super) const UNKNOWN_ACCOUNT: &str = "Invalid grant: account not found";

/// Checks something signed at the time of `now`: what is for one audience, or a token for all
/// services. Says what is wrong with it.
pub(super) fn check(token: &str, audience: Option<&str>, now: i64) -> Result<(), &'static str> {
    let (signed, signature) = token.rsplit_once('.').ok_or("not a JWT")?;
    let (header, claims) = signed.split_once('.').ok_or("not a JWT")?;
    let signature = URL_SAFE_NO_PAD
        .decode(signature)
        .map_err(|_| "the signature is not base64")?;
    let public = public_key().ok_or("the test has no key")?;
    UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public)
        .verify(signed.as_bytes(), &signature)
        .map_err(|_| SIGNATURE)?;
    let header = json(header).ok_or("the header is not JSON")?;
    if header["alg"] != "RS256" || header["typ"] != "JWT" || header["kid"] != "test-only" {
        return Err("the header is wrong");
    }
    let claims = json(claims).ok_or("the claims are not JSON")?;
    if claims["iss"] != ACCOUNT {
        return Err(UNKNOWN_ACCOUNT);
    }
    if claims["scope"] != SCOPE {
        return Err("the scope is wrong");
    }
    let is_for_us = match audience {
        // To act for somebody else is another permission.
        Some(audience) => claims["aud"] == audience && claims["sub"].is_null(),
        // Either an audience or scopes; with scopes it works for all services.
        None => claims["aud"].is_null() && claims["sub"] == ACCOUNT,
    };
    if !is_for_us {
        return Err("it is for another audience");
    }
    let time = |name: &str| claims[name].as_i64().ok_or("a time is missing");
    let (issued, expires) = (time("iat")?, time("exp")?);
    if issued > now + SLACK || expires <= now || expires - issued > LONGEST_LIFE {
        return Err(TIMES);
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
    fn only_what_is_right_in_every_way_is_accepted() {
        let now = 2_000_000_000;
        let header = json!({ "alg": "RS256", "typ": "JWT", "kid": "test-only" });
        let token = json!({
            "iss": ACCOUNT, "sub": ACCOUNT, "scope": SCOPE, "iat": now - 5, "exp": now + 3000,
        });
        let place = "https://example.com/token";
        let grant = json!({
            "iss": ACCOUNT, "aud": place, "scope": SCOPE, "iat": now - 5, "exp": now + 3000,
        });
        for (claims, audience) in [(&token, None), (&grant, Some(place))] {
            let good = signed(&header, claims);
            assert_eq!(check(&good, audience, now), Ok(()));
            assert_eq!(check(&good, audience, now - 120), Err(TIMES));
            assert_eq!(check(&good, audience, now + 3001), Err(TIMES));
            let other = audience.xor(Some(place));
            assert!(check(&good, other, now).is_err(), "{other:?}");
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
                let mut claims = claims.clone();
                claims[name] = value.clone();
                let bad = check(&signed(&header, &claims), audience, now);
                assert!(bad.is_err(), "{name} {value}");
            }
            let other = json!({ "alg": "none", "typ": "JWT", "kid": "test-only" });
            assert!(check(&signed(&other, claims), audience, now).is_err());
            let (text, _) = good.rsplit_once('.').unwrap();
            let empty = format!("{text}.{}", URL_SAFE_NO_PAD.encode([0; 256]));
            assert_eq!(check(&empty, audience, now), Err(SIGNATURE));
        }
        assert!(check("", None, now).is_err());
    }
}
