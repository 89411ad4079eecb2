//! What is answered to a request.

use hyper::Method;
use serde_json::{Value as Json, json};

use super::{Condition, Preflight, World};
use crate::stand_in::{Answer, Asked};

/// What a server says to who may not do something.
const DENIED: &str = "permission denied";

impl World {
    pub(super) fn answer(&mut self, asked: &Asked) -> Answer {
        let Some(path) = asked.path.strip_prefix("/v1/") else {
            return Answer::bytes(404, "text/html", "<html>there is no such page</html>");
        };
        let Some(path) = decoded(path) else {
            return refusal(400, "the path is not encoded as it should be");
        };
        if path == "sys/seal-status" {
            let is_initialised = !matches!(self.condition, Condition::Uninitialised);
            let is_sealed = !is_initialised || matches!(self.condition, Condition::Sealed);
            let status =
                json!({ "type": "shamir", "initialized": is_initialised, "sealed": is_sealed });
            return Answer::json(200, &status);
        }
        if let Some(answer) = self.next.pop_front() {
            return answer;
        }
        if let Some((part, answer)) = &self.always
            && path.contains(part.as_str())
        {
            return answer.clone();
        }
        match &self.condition {
            Condition::Ready => {}
            Condition::Sealed | Condition::Uninitialised => {
                return refusal(503, "Vault is sealed");
            }
            Condition::Standby(active) => {
                let there = format!("{active}{}", asked.path);
                return Answer::bytes(307, "text/plain", "").header("location", there);
            }
            Condition::StandbyAlone => return refusal(503, "no active Vault instance found"),
        }
        if asked.header("x-vault-request") != Some("true") {
            return refusal(412, "required header 'X-Vault-Request' is missing");
        }
        let namespace = asked.header("x-vault-namespace").unwrap_or_default();
        if let Some(rest) = path.strip_prefix("auth/") {
            return self.login(namespace, rest, asked);
        }
        self.read(namespace, &path, asked.header("x-vault-token"))
    }

    fn login(&mut self, namespace: &str, path: &str, asked: &Asked) -> Answer {
        let mount = path.strip_suffix("/login");
        let (Some(mount), &Method::POST) = (mount, &asked.method) else {
            return refusal(405, "unsupported operation");
        };
        let is_there =
            |(_, role): &(_, &super::Role)| role.namespace == namespace && role.mount == mount;
        if !self.roles.iter().any(|role| is_there(&role)) {
            let words = format!("no handler for route {path:?}. route entry not found.");
            return refusal(404, &words);
        }
        self.logins += 1;
        let body: Json = serde_json::from_slice(&asked.body).unwrap_or_default();
        let text = |name: &str| body.get(name).and_then(Json::as_str).unwrap_or_default();
        let role = self.roles.get(text("role_id"));
        let role = role.filter(|role| role.namespace == namespace && role.mount == mount);
        let Some(role) = role.filter(|role| role.secret == text("secret_id")) else {
            // Some versions repeat what they were told.
            let words = format!("invalid role or secret ID {:?}", text("secret_id"));
            return refusal(400, &words);
        };
        let token = format!("hvs.of-login-number-{}", self.logins);
        let (lease, allowed) = (role.lease, role.allowed.clone());
        self.tokens.insert(token.clone(), allowed);
        let auth = json!({
            "client_token": token, "policies": ["default"], "lease_duration": lease,
            "renewable": true, "token_type": "service",
        });
        Answer::json(200, &json!({ "auth": auth, "data": null }))
    }

    fn read(&self, namespace: &str, path: &str, token: Option<&str>) -> Answer {
        let Some(allowed) = token.and_then(|token| self.tokens.get(token)) else {
            return if self.says_invalid_token {
                let words = "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n";
                refusal(403, words)
            } else {
                refusal(403, DENIED)
            };
        };
        if let Some(path) = path.strip_prefix("sys/internal/ui/mounts/") {
            return self.describe(namespace, path, allowed);
        }
        if !allowed.iter().any(|pattern| matches(pattern, path)) {
            let words = format!("1 error occurred:\n\t* {DENIED}\n\n");
            return refusal(403, &words);
        }
        match self.engine(namespace, path) {
            Some((mount, engine)) => {
                let rest = path.strip_prefix(mount).and_then(|it| it.strip_prefix('/'));
                let (status, document) = engine.read(rest.unwrap_or_default());
                Answer::json(status, &document)
            }
            None => {
                let words = format!("no handler for route {path:?}. route entry not found.");
                refusal(404, &words)
            }
        }
    }

    /// What is said about a mount, to those who can read something in it.
    fn describe(&self, namespace: &str, path: &str, allowed: &[String]) -> Answer {
        let denied = format!(
            "preflight capability check returned 403, please ensure client's policies grant access \
             to path {path:?}"
        );
        match self.preflight {
            Preflight::On => {}
            Preflight::Denied => return refusal(403, &denied),
            Preflight::Absent => {
                return Answer::json(404, &json!({ "errors": [] }));
            }
        }
        let found = self.engine(namespace, path).filter(|(mount, _)| {
            let below = format!("{mount}/");
            let is_below = |pattern: &String| {
                pattern.starts_with(&below)
                    || pattern
                        .strip_suffix('*')
                        .is_some_and(|it| below.starts_with(it))
            };
            allowed.iter().any(is_below)
        });
        found.map_or_else(
            || refusal(403, &denied),
            |(mount, engine)| Answer::json(200, &engine.describe(&format!("{mount}/"))),
        )
    }

    fn engine(&self, namespace: &str, path: &str) -> Option<(&str, &super::Engine)> {
        let mut engines = self.engines.iter();
        let (place, engine) = engines.find(|((of, mount), _)| {
            let rest = path.strip_prefix(mount.as_str());
            of == namespace && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })?;
        Some((place.1.as_str(), engine))
    }
}

fn refusal(status: u16, words: &str) -> Answer {
    Answer::json(status, &json!({ "errors": [words] }))
}

fn matches(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => path.starts_with(beginning),
        None => pattern == path,
    }
}

/// A path without its encoding; nothing if that is wrong.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let decoded = if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
        } else {
            byte
        };
        bytes.push(decoded);
    }
    String::from_utf8(bytes).ok()
}
