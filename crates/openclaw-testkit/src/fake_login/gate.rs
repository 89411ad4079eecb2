//! Who may pass to the MCP server (RFC 6750).

use std::time::Instant;

use serde_json::{Value as Json, json};

use super::ADMIN;
use super::grants::Useless;
use super::options::{ChallengeStyle, Public};
use super::places::{MCP, Places, SECOND};
use super::world::World;
use crate::stand_in::{Answer, Asked};

/// Why a request does not pass.
enum Stopped {
    NoToken,
    BadToken(&'static str),
    Scope(Vec<String>),
    BadRequest(&'static str),
}

/// The paths of HTTP+SSE, which belong to the first of the MCP servers.
const EVENTS: [&str; 2] = ["/sse", "/message"];

/// The MCP server that a path belongs to.
pub(super) fn server_at(path: &str) -> Option<&'static str> {
    match path {
        MCP => Some(MCP),
        SECOND => Some(SECOND),
        path if EVENTS.contains(&path) => Some(MCP),
        _ => None,
    }
}

impl World {
    /// Lets a request pass, or says what is missing.
    pub(super) fn pass(&mut self, server: &str, asked: &Asked, now: Instant) -> Result<(), Answer> {
        let Err(stopped) = self.check(server, asked, now) else {
            self.counters.accepted += 1;
            return Ok(());
        };
        let error = |error: &'static str, words: &str| {
            [("error", error), ("error_description", words)]
                .map(|(name, text)| (name, text.to_owned()))
        };
        let needs = self.options.resource.needs.clone();
        let (status, parameters, scopes, words) = match &stopped {
            // Who showed nothing is told nothing about errors (RFC 6750 §3.1).
            Stopped::NoToken => (401, Vec::new(), needs, "a token is needed"),
            Stopped::BadToken(words) => {
                (401, error("invalid_token", words).to_vec(), needs, *words)
            }
            Stopped::Scope(scopes) => {
                let words = "the token does not allow this";
                let error = error("insufficient_scope", words);
                (403, error.to_vec(), scopes.clone(), words)
            }
            Stopped::BadRequest(words) => (
                400,
                error("invalid_request", words).to_vec(),
                Vec::new(),
                *words,
            ),
        };
        match status {
            401 => self.counters.unauthorized += 1,
            403 => self.counters.forbidden += 1,
            _ => {}
        }
        let answer = Answer::json(status, &json!({ "error": words }));
        Err(match self.challenge(server, parameters, &scopes) {
            Some(challenge) => answer.header("www-authenticate", challenge),
            None => answer,
        })
    }

    fn check(&self, server: &str, asked: &Asked, now: Instant) -> Result<(), Stopped> {
        if asked.query.contains("access_token=") {
            return Err(Stopped::BadRequest("a token has no place in an address"));
        }
        let mut headers = asked.headers.get_all("authorization").iter();
        let (header, another) = (headers.next(), headers.next());
        if another.is_some() {
            return Err(Stopped::BadRequest("there are two tokens"));
        }
        if header.is_none() && self.is_public(asked) {
            return Ok(());
        }
        let header = header.ok_or(Stopped::NoToken)?;
        let token = header
            .to_str()
            .ok()
            .and_then(|it| it.strip_prefix("Bearer "));
        let token = token.ok_or(Stopped::BadToken("this is no bearer token"))?;
        let names = self.resources_at(server);
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let scopes = self
            .grants
            .scopes_of(token, &names, now)
            .map_err(|useless| {
                Stopped::BadToken(match useless {
                    Useless::Unknown => "the token is unknown",
                    Useless::Revoked => "the token was revoked",
                    Useless::Expired => "the token has expired",
                    Useless::OtherResource => "the token is for another server",
                })
            })?;
        let mut needed = self.options.resource.needs.clone();
        if is_call_of(asked, ADMIN) {
            needed.push(ADMIN.to_owned());
        }
        // Only what is missing is named: what else is needed, the client has to remember.
        needed.retain(|scope| !scopes.contains(scope));
        if needed.is_empty() {
            Ok(())
        } else {
            Err(Stopped::Scope(needed))
        }
    }

    /// Whether a request needs no token.
    fn is_public(&self, asked: &Asked) -> bool {
        match self.options.resource.public {
            None => false,
            Some(Public::Greeting) => !wants(asked),
            Some(Public::Tools) => !is_call_of(asked, ADMIN),
        }
    }

    /// The header that says how to do better (RFC 9728 §5.1).
    fn challenge(
        &self,
        server: &str,
        mut parameters: Vec<(&'static str, String)>,
        scopes: &[String],
    ) -> Option<String> {
        let style = self.options.resource.challenge;
        match style {
            ChallengeStyle::None => return None,
            ChallengeStyle::Bare => return Some("Bearer".to_owned()),
            ChallengeStyle::Full | ChallengeStyle::NoScope | ChallengeStyle::NoAddress => {}
        }
        let place = Places::resource_metadata(&self.options, server);
        if let Some(path) = place
            && style != ChallengeStyle::NoAddress
        {
            parameters.push(("resource_metadata", self.places.server(&path)));
        }
        if style != ChallengeStyle::NoScope && !scopes.is_empty() {
            parameters.push(("scope", scopes.join(" ")));
        }
        let parameters = parameters.iter();
        let parameters: Vec<_> = parameters
            .map(|(name, value)| format!("{name}=\"{value}\""))
            .collect();
        Some(
            format!("Bearer {}", parameters.join(", "))
                .trim()
                .to_owned(),
        )
    }
}

/// Whether a request wants something, and does not only make itself known.
fn wants(asked: &Asked) -> bool {
    let message: Json = serde_json::from_slice(&asked.body).unwrap_or_default();
    let method = message["method"].as_str().unwrap_or_default();
    ["/list", "/call", "/read", "/get"]
        .iter()
        .any(|end| method.ends_with(end))
}

/// Whether a request calls this tool.
fn is_call_of(asked: &Asked, tool: &str) -> bool {
    let message: Json = serde_json::from_slice(&asked.body).unwrap_or_default();
    message["method"] == "tools/call" && message["params"]["name"] == tool
}
