//! The key of a service account, and what is signed with it.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use openclaw_secrets::Secret;
use reqsign_core::time::Timestamp;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use secrecy::zeroize::Zeroizing;
use serde_json::{Value as Json, json};
use tokio::time::Instant;

use super::asking::{Asking, SCOPE, Trouble};
use super::document::Part;
use super::token::{LONGEST_LIFE, Token};
use crate::error::SecretError;

/// Where such tokens are given if the file does not say so.
pub(super) const TOKEN_ADDRESS: &str = "https://oauth2.googleapis.com/token";
/// What makes a token of something signed (RFC 7523 §2.1).
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// How many seconds ago something was signed: their clock may be a little behind ours.
const SINCE: i64 = 10;

/// How a token is made.
///
/// A service account may sign its tokens itself: what Google's own libraries do. Nobody has to be
/// asked, and it works where the place that gives tokens can't be reached. Where such a token is
/// not accepted, that place is asked after all (RFC 7523): its tokens are good for every service,
/// and it says what is wrong, be it the key, the account or our clock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    SelfSigned,
    Granted,
}

/// The key of a service account.
pub(super) struct ServiceAccount {
    email: String,
    key_id: Option<String>,
    key: Secret,
    token_address: String,
}

impl ServiceAccount {
    pub(super) fn new(part: Part<'_>) -> Result<Self, SecretError> {
        Ok(Self {
            email: part.needed("client_email")?.to_owned(),
            key_id: part.text("private_key_id").map(str::to_owned),
            key: part.secret("private_key")?,
            token_address: part.address_or("token_uri", TOKEN_ADDRESS)?,
        })
    }

    /// What to try where the key is not accepted.
    pub(super) fn hint(part: Part<'_>, clean: &dyn Fn(&str) -> String) -> String {
        let account = clean(part.text("client_email").unwrap_or("ACCOUNT"));
        format!(
            "create a new key with `gcloud iam service-accounts keys create FILE \
             --iam-account={account}`"
        )
    }

    /// A token that is good now.
    pub(super) async fn token(&self, asking: &Asking<'_>, way: Way) -> Result<Token, Trouble> {
        let audience = match way {
            Way::SelfSigned => None,
            Way::Granted => Some(self.token_address.as_str()),
        };
        let asked = Instant::now();
        let signed = self.signed(audience, Timestamp::now().as_second());
        let signed = signed.ok_or_else(|| {
            let reason = format!(
                "no access token can be made of the credentials in {}: `private_key` is not an \
                 RSA key in PEM (PKCS #8)",
                asking.shown
            );
            SecretError::misconfigured(reason).hint(asking.hint)
        })?;
        let signed = asking.surroundings.credential(signed);
        if way == Way::SelfSigned {
            let since = Duration::from_secs(SINCE.unsigned_abs());
            let life = LONGEST_LIFE.saturating_sub(since);
            return Ok(Token::new(signed, asked, life));
        }
        let fields = [("grant_type", GRANT), ("assertion", signed.expose())];
        asking.grant(&self.token_address, &fields, None).await
    }

    /// A JWT (RFC 7519) that says who we are, to one audience or to all services of Google.
    fn signed(&self, audience: Option<&str>, now: i64) -> Option<String> {
        let pair = self.pair()?;
        let mut header = json!({ "alg": "RS256", "typ": "JWT" });
        if let Some(key_id) = &self.key_id {
            header["kid"] = json!(key_id);
        }
        let issued = now.saturating_sub(SINCE);
        let mut claims = json!({
            "iss": self.email,
            "scope": SCOPE,
            "iat": issued,
            "exp": issued.saturating_add_unsigned(LONGEST_LIFE.as_secs()),
        });
        match audience {
            Some(audience) => claims["aud"] = json!(audience),
            None => claims["sub"] = json!(self.email),
        }
        let part = |json: &Json| URL_SAFE_NO_PAD.encode(json.to_string());
        let text = format!("{}.{}", part(&header), part(&claims));
        let mut signature = vec![0; pair.public().modulus_len()];
        let random = SystemRandom::new();
        pair.sign(&RSA_PKCS1_SHA256, &random, text.as_bytes(), &mut signature)
            .ok()?;
        Some(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    /// The key in its form for signing. It is made anew each time, so that it is in memory only as
    /// long as it is used.
    fn pair(&self) -> Option<RsaKeyPair> {
        let lines = self.key.expose().lines().map(str::trim);
        let mut lines = lines.skip_while(|line| *line != "-----BEGIN PRIVATE KEY-----");
        lines.next()?;
        let mut text = Zeroizing::new(String::with_capacity(self.key.len()));
        for line in lines.take_while(|line| *line != "-----END PRIVATE KEY-----") {
            text.push_str(line);
        }
        let bytes = Zeroizing::new(STANDARD.decode(text.as_bytes()).ok()?);
        RsaKeyPair::from_pkcs8(&bytes).ok()
    }
}
