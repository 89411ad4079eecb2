//! Where tokens are given and given back.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::OFFLINE;
use super::clients::{Known, Proof};
use super::form::{Form, Refused, uncached};
use super::grants::{Allowed, Given, Manner};
use super::options::{Fault, TokenFailure};
use super::world::World;
use crate::stand_in::{Answer, Asked};

/// How long it is waited where nothing is answered.
const FOR_EVER: Duration = Duration::from_mins(10);

impl World {
    /// Notes that a request has come to the token endpoint, before anything is done about it.
    pub(super) fn count_token_request(&mut self, asked: &Asked) {
        self.counters.token_requests += 1;
        let is_refresh = |form: &Form| form.get("grant_type") == Some("refresh_token");
        if Form::of_body(asked).as_ref().is_ok_and(is_refresh) {
            self.counters.refreshes_arrived += 1;
        }
    }

    /// Gives tokens (OAuth 2.1 §3.2).
    pub(super) fn token(&mut self, asked: &Asked, now: Instant) -> Answer {
        let form = Form::of_body(asked);
        let kind = form.as_ref().ok().and_then(|form| form.get("grant_type"));
        let failure = match kind {
            Some("refresh_token") => self.options.tokens.fail_refresh,
            Some("authorization_code") => self.options.tokens.fail_exchange,
            _ => None,
        };
        if let Some(failure) = failure {
            return failed(failure);
        }
        match form.and_then(|form| self.granted(asked, &form, now)) {
            Ok(given) => self.given(&given),
            Err(refused) if self.options.has(Fault::ErrorsAreOk) => Answer {
                status: 200,
                ..refused.answer()
            },
            Err(refused) => refused.answer(),
        }
    }

    fn granted(&mut self, asked: &Asked, form: &Form, now: Instant) -> Result<Given, Refused> {
        let (id, client) = self.identify(asked, form)?;
        match form.need("grant_type")? {
            "authorization_code" => self.exchange(form, &id, &client, now),
            "refresh_token" => self.refresh(form, &id, &client, now),
            "client_credentials" => self.on_its_own(form, id, &client, now),
            other => {
                let words = format!("{other} is not for here");
                Err(Refused::new("unsupported_grant_type", words))
            }
        }
    }

    fn exchange(
        &mut self,
        form: &Form,
        id: &str,
        client: &Known,
        now: Instant,
    ) -> Result<Given, Refused> {
        let (code, verifier) = (form.need("code")?, form.need("code_verifier")?);
        let redirect_uri = form.need("redirect_uri")?;
        let resource = self.resource(form)?;
        let allowed = self.grants.of_code(code).cloned();
        self.same_resource(resource.as_deref(), allowed.as_ref())?;
        let manner = self.manner(client, allowed.as_ref());
        let given = self
            .grants
            .redeem(code, id, redirect_uri, verifier, manner, now)?;
        self.counters.exchanges += 1;
        Ok(given)
    }

    fn refresh(
        &mut self,
        form: &Form,
        id: &str,
        client: &Known,
        now: Instant,
    ) -> Result<Given, Refused> {
        let token = form.need("refresh_token")?;
        let resource = self.resource(form)?;
        let allowed = self.grants.of_refresh(token).cloned();
        self.same_resource(resource.as_deref(), allowed.as_ref())?;
        let manner = self.manner(client, allowed.as_ref());
        let given = self.grants.renew(token, id, form.scopes(), manner, now)?;
        self.counters.refreshes += 1;
        self.counters.repeats += u64::from(given.is_repeat);
        Ok(given)
    }

    /// Tokens for a client on its own account (OAuth 2.1 §4.2).
    fn on_its_own(
        &mut self,
        form: &Form,
        id: String,
        client: &Known,
        now: Instant,
    ) -> Result<Given, Refused> {
        if matches!(client.proof, Proof::None) {
            let words = "only those who prove their identity";
            return Err(Refused::new("unauthorized_client", words));
        }
        let resource = self.resource(form)?;
        let known = self.options.scopes();
        let scopes = form.scopes();
        let mut scopes = scopes.unwrap_or_else(|| self.options.resource.needs.clone());
        if !scopes.iter().all(|scope| known.contains(scope)) {
            return Err(Refused::new("invalid_scope", "there is no such scope"));
        }
        scopes.retain(|scope| !self.options.tokens.withhold.contains(scope));
        let manner = Manner {
            // OAuth 2.1 §4.2.3.
            refreshes: false,
            ..self.manner(client, None)
        };
        self.counters.client_credentials += 1;
        let allowed = Allowed {
            client: id,
            scopes,
            resource,
        };
        Ok(self.grants.give(allowed, manner, now))
    }

    /// Tokens are for what they were first asked for (RFC 8707 §2.2).
    fn same_resource(
        &self,
        wanted: Option<&str>,
        allowed: Option<&Allowed>,
    ) -> Result<(), Refused> {
        let granted = allowed.and_then(|allowed| allowed.resource.as_deref());
        if self.options.login.lax_resource || granted.is_none() || granted == wanted {
            Ok(())
        } else {
            let words = "this was granted for another resource";
            Err(Refused::new("invalid_target", words))
        }
    }

    /// How tokens are given to a client.
    fn manner(&self, client: &Known, allowed: Option<&Allowed>) -> Manner {
        let tokens = &self.options.tokens;
        let mut scopes = allowed.iter().flat_map(|allowed| &allowed.scopes);
        let is_offline = !tokens.offline_access || scopes.any(|scope| scope == OFFLINE);
        Manner {
            lifetime: Duration::from_secs(tokens.lifetime),
            refreshes: !tokens.no_refresh_token && client.refreshes && is_offline,
            rotates: !tokens.keep_refresh_token,
            grace: Duration::from_millis(tokens.accept_repeats),
            single: tokens.single_access,
        }
    }

    /// The answer with tokens (OAuth 2.1 §3.2.3).
    fn given(&mut self, given: &Given) -> Answer {
        self.counters.tokens += 1;
        let has = |fault| self.options.has(fault);
        let lifetime = self.options.tokens.lifetime;
        let mut body = json!({ "access_token": given.access });
        if has(Fault::OddTokenType) {
            body["token_type"] = json!("bEaReR");
        } else if has(Fault::OtherTokenType) {
            body["token_type"] = json!("DPoP");
        } else if !has(Fault::NoTokenType) {
            body["token_type"] = json!("Bearer");
        }
        if has(Fault::TextExpiry) {
            body["expires_in"] = json!(lifetime.to_string());
        } else if !has(Fault::NoExpiry) {
            body["expires_in"] = json!(lifetime);
        }
        if let Some(refresh) = &given.refresh {
            body["refresh_token"] = json!(refresh);
        }
        if !has(Fault::NoScope) {
            body["scope"] = json!(given.scopes.join(" "));
        }
        if has(Fault::FormAnswer) {
            let mut form = url::form_urlencoded::Serializer::new(String::new());
            for (name, value) in body.as_object().into_iter().flatten() {
                let text = value.to_string();
                form.append_pair(name, value.as_str().unwrap_or(&text));
            }
            let kind = "application/x-www-form-urlencoded";
            return uncached(Answer::bytes(200, kind, form.finish()));
        }
        uncached(Answer::json(200, &body))
    }

    /// Takes a token back (RFC 7009 §2).
    pub(super) fn revoke(&mut self, asked: &Asked) -> Answer {
        if self.options.has(Fault::RevocationDown) {
            return Answer::bytes(503, "text/plain", "down");
        }
        let revoked = Form::of_body(asked).and_then(|form| {
            let (id, _) = self.identify(asked, &form)?;
            Ok(self.grants.take_back(form.need("token")?, &id))
        });
        match revoked {
            Ok(was_known) => {
                self.counters.revocations += u64::from(was_known);
                // It is the same to a client whether a token was good before.
                Answer::json(200, &Json::Null)
            }
            Err(refused) => refused.answer(),
        }
    }
}

/// What happens to those who use a refresh token or a code.
fn failed(failure: TokenFailure) -> Answer {
    let words = "as it was told to";
    match failure {
        TokenFailure::Down => Answer::bytes(503, "text/plain", "down"),
        TokenFailure::TooOften => {
            Answer::bytes(429, "text/plain", "slower").header("retry-after", "1")
        }
        TokenFailure::InvalidGrant => Refused::grant(words).answer(),
        TokenFailure::InvalidClient => Refused::client(words).answer(),
        TokenFailure::InvalidRequest => Refused::request(words).answer(),
        TokenFailure::Html => Answer::bytes(200, "text/html", "<html><p>Please sign in</p></html>"),
        TokenFailure::Hang => Answer::json(200, &json!({})).after(FOR_EVER),
        TokenFailure::HangUp => Answer::bytes(super::HANG_UP, "text/plain", ""),
    }
}
