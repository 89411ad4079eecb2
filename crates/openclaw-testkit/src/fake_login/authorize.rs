//! Where browsers are sent to log in, and where they are sent from there.

use std::time::Instant;

use url::Url;

use super::form::{Form, Refused};
use super::grants::{Allowed, CodeRequest};
use super::metadata::SOMEBODY_ELSE;
use super::options::Fault;
use super::places::Endpoint;
use super::world::World;
use crate::stand_in::{Answer, Asked};

/// A question that a person has yet to answer.
#[derive(Debug)]
pub(super) struct Consent {
    request: CodeRequest,
    back: Back,
}

/// The way back to the client.
#[derive(Clone, Debug)]
struct Back {
    redirect_uri: Url,
    state: Option<String>,
}

impl World {
    /// A browser comes to log in (OAuth 2.1 §4.1.1).
    pub(super) fn authorize(&mut self, asked: &Asked, now: Instant) -> Answer {
        self.counters.authorizations += 1;
        let (form, client, back) = match self.way_back(asked) {
            Ok(known) => known,
            // To an address that may be anybody's, nobody is sent (RFC 6749 §4.1.2.1).
            Err(refused) => return page(400, "No login", &escaped(&refused.description)),
        };
        let request = match self.wanted(&form, client, &back) {
            Ok(request) => request,
            Err(refused) => return self.send_back(&back, Err(&refused)),
        };
        if self.options.login.consent_page {
            let id = self.grants.secret("consent");
            let answer = self.question(&id, &request.allowed);
            self.consents.insert(id, Consent { request, back });
            return answer;
        }
        self.decide(request, &back, !self.options.login.deny, now)
    }

    /// A person has answered.
    pub(super) fn consent(&mut self, asked: &Asked, now: Instant) -> Answer {
        let form = Form::of_body(asked);
        let id = form.as_ref().ok().and_then(|form| form.get("consent"));
        let Some(Consent { request, back }) = id.and_then(|id| self.consents.remove(id)) else {
            return page(400, "No login", "Nobody has asked for this.");
        };
        let decision = form.as_ref().ok().and_then(|form| form.get("decision"));
        let is_allowed = decision == Some("allow") && !self.options.login.deny;
        self.decide(request, &back, is_allowed, now)
    }

    fn decide(
        &mut self,
        request: CodeRequest,
        back: &Back,
        is_allowed: bool,
        now: Instant,
    ) -> Answer {
        if !is_allowed {
            let refused = Refused::new("access_denied", "the person said no");
            return self.send_back(back, Err(&refused));
        }
        self.counters.codes += 1;
        let code = self.grants.give_code(request, now);
        self.send_back(back, Ok(&code))
    }

    /// Who sent the browser, and where it can be sent back to.
    fn way_back(&self, asked: &Asked) -> Result<(Form, String, Back), Refused> {
        let form = Form::of_query(asked)?;
        let id = form.need("client_id")?.to_owned();
        let client = self.client(&id);
        let client = client.ok_or_else(|| Refused::client("there is no such client"))?;
        let redirect_uri = form.need("redirect_uri")?;
        if !client.redirects.contain(redirect_uri) {
            return Err(Refused::request("redirect_uri is not the client's"));
        }
        let wrong = |_| Refused::request("redirect_uri is no address");
        let back = Back {
            redirect_uri: Url::parse(redirect_uri).map_err(wrong)?,
            state: form.get("state").map(str::to_owned),
        };
        Ok((form, id, back))
    }

    /// What is wanted, if it can be had.
    fn wanted(&self, form: &Form, client: String, back: &Back) -> Result<CodeRequest, Refused> {
        if form.need("response_type")? != "code" {
            return Err(Refused::new("unsupported_response_type", "only code"));
        }
        // RFC 6749 §10.12; it is for clients that this server is here to test.
        if back.state.as_ref().is_none_or(|state| state.len() < 16) {
            return Err(Refused::request("state is missing or can be guessed"));
        }
        let challenge = form.need("code_challenge")?;
        // RFC 7636 §4.3: without it, `plain` is meant.
        if form.get("code_challenge_method") != Some("S256") || challenge.len() != 43 {
            return Err(Refused::request("code_challenge_method must be S256"));
        }
        let resource = self.resource(form)?;
        let known = self.options.scopes();
        let mut scopes = match form.scopes() {
            None => self.options.resource.needs.clone(),
            Some(scopes) => scopes,
        };
        if let Some(unknown) = scopes.iter().find(|scope| !known.contains(scope)) {
            let words = format!("there is no scope {unknown}");
            return Err(Refused::new("invalid_scope", words));
        }
        scopes.retain(|scope| !self.options.tokens.withhold.contains(scope));
        let allowed = Allowed {
            client,
            scopes,
            resource,
        };
        Ok(CodeRequest {
            allowed,
            redirect_uri: form.need("redirect_uri")?.to_owned(),
            challenge: challenge.to_owned(),
        })
    }

    /// Sends the browser back, with a code or with an error (OAuth 2.1 §4.1.2).
    fn send_back(&self, back: &Back, outcome: Result<&str, &Refused>) -> Answer {
        let has = |fault| self.options.has(fault);
        let mut address = back.redirect_uri.clone();
        {
            let mut query = address.query_pairs_mut();
            match outcome {
                Ok(code) => query.append_pair("code", code),
                Err(refused) => query
                    .append_pair("error", refused.error)
                    .append_pair("error_description", &refused.description),
            };
            if let Some(state) = &back.state
                && !has(Fault::NoState)
            {
                let foreign = "a-state-that-nobody-sent";
                let state = if has(Fault::WrongState) {
                    foreign
                } else {
                    state
                };
                query.append_pair("state", state);
            }
            if has(Fault::WrongIss) {
                query.append_pair("iss", SOMEBODY_ELSE);
            } else if !has(Fault::NoIss) && !has(Fault::SilentIss) {
                // RFC 9207 §2.
                query.append_pair("iss", &self.places.issuer(&self.options));
            }
        }
        Answer::bytes(302, "text/plain", "").header("location", address)
    }

    /// The page that asks a person.
    fn question(&self, id: &str, allowed: &Allowed) -> Answer {
        let action = self.places.endpoint(&self.options, Endpoint::Consent);
        let body = format!(
            "<p><b>{}</b> asks for: {}</p>\
             <form method=\"post\" action=\"{}\">\
             <input type=\"hidden\" name=\"consent\" value=\"{}\">\
             <button name=\"decision\" value=\"allow\">Allow</button> \
             <button name=\"decision\" value=\"deny\">Deny</button></form>",
            escaped(&allowed.client),
            escaped(&allowed.scopes.join(", ")),
            escaped(&action),
            escaped(id),
        );
        page(200, "Log in?", &body)
    }
}

/// A page for a browser.
fn page(status: u16, title: &str, body: &str) -> Answer {
    let page = format!(
        "<!doctype html><html lang=\"en\"><title>{title}</title><h1>{title}</h1>{body}</html>"
    );
    Answer::bytes(status, "text/html; charset=utf-8", page)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}
