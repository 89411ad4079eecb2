//! Beginning a login: where the browser is sent to, and what is needed to end it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openclaw_secrets::Secret;
use ring::digest::{SHA256, digest};
use url::Url;

use crate::client::Client;
use crate::discovery::Discovered;
use crate::error::{OAuthError, quoted};
use crate::kept::PendingLogin;
use crate::random::unguessable;
use crate::scopes::OFFLINE;

/// A login that is to begin.
#[derive(Clone, Copy)]
pub(crate) struct LoginRequest<'a> {
    /// Who is asked.
    pub(crate) discovered: &'a Discovered,
    /// Who asks.
    pub(crate) client: &'a Client,
    /// What is asked for.
    pub(crate) scopes: &'a [String],
    /// Where the browser is sent to in the end.
    pub(crate) redirect_uri: &'a str,
    /// The time in milliseconds since 1970.
    pub(crate) now: u64,
}

impl LoginRequest<'_> {
    /// Where the browser is sent to (RFC 6749 §4.1.1), and what is needed to end the login.
    pub(crate) fn begin(&self) -> Result<(Url, PendingLogin), OAuthError> {
        let server = &self.discovered.server;
        let Some(endpoint) = &server.authorization_endpoint else {
            let issuer = quoted(&self.discovered.issuer);
            return Err(OAuthError::lasting(format!(
                "{issuer} has no address for logins with a browser"
            )));
        };
        let pending = PendingLogin {
            login: unguessable(9)?.expose().to_owned(),
            state: unguessable(32)?,
            verifier: unguessable(32)?,
            begun_at: self.now,
            issuer: self.discovered.issuer.clone(),
            issuer_promised: server.issuer_promised,
            client: self.client.clone(),
            resource: self.discovered.resource.clone(),
            scopes: self.scopes.to_vec(),
            redirect_uri: self.redirect_uri.to_owned(),
            token_endpoint: server.token_endpoint.clone(),
            revocation_endpoint: server.revocation_endpoint.clone(),
            signing_algorithms: server.signing_algorithms.clone(),
        };
        Ok((address(endpoint, &pending), pending))
    }
}

fn address(endpoint: &Url, pending: &PendingLogin) -> Url {
    let challenge = code_challenge(&pending.verifier);
    let scopes = pending.scopes.join(" ");
    let mut parameters = vec![
        ("response_type", "code"),
        ("client_id", pending.client.id.as_str()),
        ("redirect_uri", pending.redirect_uri.as_str()),
        ("state", pending.state.expose()),
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
        ("resource", pending.resource.as_str()),
    ];
    if !scopes.is_empty() {
        parameters.push(("scope", scopes.as_str()));
    }
    if pending.scopes.iter().any(|scope| scope == OFFLINE) {
        // OpenID Connect Core §11: it is ignored without being asked about.
        parameters.push(("prompt", "consent"));
    }
    // RFC 6749 §3.1: what the address has stays, and nothing may be there twice.
    let kept: Vec<(String, String)> = endpoint
        .query_pairs()
        .filter(|(name, _)| !parameters.iter().any(|(own, _)| own == name) && name != "scope")
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    let mut url = endpoint.clone();
    url.query_pairs_mut()
        .clear()
        .extend_pairs(kept)
        .extend_pairs(parameters);
    url
}

/// What is shown of the verifier before it is (RFC 7636 §4.2).
fn code_challenge(verifier: &Secret) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.expose().as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::client::Registration;
    use crate::testing::{discovered, public_client, url};

    fn begin(discovered: &Discovered, scopes: &[&str]) -> (Url, PendingLogin) {
        let scopes: Vec<String> = scopes.iter().map(|&scope| scope.to_owned()).collect();
        let request = LoginRequest {
            discovered,
            client: &public_client(Registration::Dynamic),
            scopes: &scopes,
            redirect_uri: "http://127.0.0.1:7/callback?a=b",
            now: 1234,
        };
        request.begin().unwrap()
    }

    fn parameters(url: &Url) -> BTreeMap<String, String> {
        let all: Vec<_> = url.query_pairs().into_owned().collect();
        let map: BTreeMap<_, _> = all.iter().cloned().collect();
        assert_eq!(map.len(), all.len(), "{url}");
        map
    }

    #[test]
    fn the_example_of_the_rule_comes_out() {
        // RFC 7636, appendix B.
        let verifier = Secret::new("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(
            code_challenge(&verifier),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    #[test]
    fn a_browser_is_sent_with_all_that_is_needed() {
        let mut discovered = discovered("https://auth.example.com");
        discovered.server.issuer_promised = true;
        let (url, pending) = begin(&discovered, &["a", "b"]);
        assert!(
            url.as_str()
                .starts_with("https://auth.example.com/authorize?")
        );
        let challenge = code_challenge(&pending.verifier);
        let expected = [
            ("response_type", "code"),
            ("client_id", "client-1"),
            ("redirect_uri", "http://127.0.0.1:7/callback?a=b"),
            ("state", pending.state.expose()),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", "https://mcp.example.com/mcp"),
            ("scope", "a b"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(parameters(&url), BTreeMap::from(expected));
        assert!(!url.as_str().contains(pending.verifier.expose()));
        assert_eq!(pending.begun_at, 1234);
        assert_eq!(pending.issuer, "https://auth.example.com");
        assert!(pending.issuer_promised);
        assert_eq!(pending.token_endpoint, discovered.server.token_endpoint);
        assert_eq!(
            pending.revocation_endpoint,
            discovered.server.revocation_endpoint
        );
        // RFC 7636 §4.1, and more than 128 bits for who guesses.
        assert!((43..=128).contains(&pending.verifier.len()));
        assert!(pending.state.len() >= 22);
    }

    #[test]
    fn no_two_logins_share_anything() {
        let discovered = discovered("https://auth.example.com");
        let (one, two) = (begin(&discovered, &[]).1, begin(&discovered, &[]).1);
        assert_ne!(one.login, two.login);
        assert_ne!(one.state, two.state);
        assert_ne!(one.verifier, two.verifier);
        assert_ne!(one.verifier, one.state);
    }

    #[test]
    fn what_the_address_has_stays_but_for_what_is_ours() {
        let mut discovered = discovered("https://auth.example.com");
        discovered.server.authorization_endpoint = Some(url(
            "https://auth.example.com/go?tenant=a%20b&client_id=evil&state=x&scope=all&p=1&p=2",
        ));
        let (url, _) = begin(&discovered, &[]);
        let query: Vec<_> = url.query_pairs().into_owned().collect();
        let values = |name: &str| -> Vec<&str> {
            let all = query.iter().filter(|(own, _)| own == name);
            all.map(|(_, value)| value.as_str()).collect()
        };
        assert_eq!(values("tenant"), ["a b"]);
        assert_eq!(values("p"), ["1", "2"]);
        assert_eq!(values("client_id"), ["client-1"]);
        assert_eq!(values("state").len(), 1);
        assert!(values("scope").is_empty());
    }

    #[test]
    fn what_outlives_the_login_is_asked_about() {
        let discovered = discovered("https://auth.example.com");
        let (url, _) = begin(&discovered, &["a", OFFLINE]);
        assert_eq!(parameters(&url)["prompt"], "consent");
        let (url, _) = begin(&discovered, &["a"]);
        assert!(!parameters(&url).contains_key("prompt"));
    }
}
