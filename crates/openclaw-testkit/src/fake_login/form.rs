//! Parameters of requests, and what is said to those who got them wrong.

use serde_json::json;

use crate::stand_in::{Answer, Asked};

/// Parameters, each of which is there once.
#[derive(Debug)]
pub(super) struct Form(Vec<(String, String)>);

/// Why a request is refused, as RFC 6749 §5.2 has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) error: &'static str,
    pub(super) description: String,
}

impl Refused {
    pub(super) fn new(error: &'static str, description: impl Into<String>) -> Self {
        Self {
            error,
            description: description.into(),
        }
    }

    pub(super) fn request(description: impl Into<String>) -> Self {
        Self::new("invalid_request", description)
    }

    pub(super) fn grant(description: impl Into<String>) -> Self {
        Self::new("invalid_grant", description)
    }

    pub(super) fn client(description: impl Into<String>) -> Self {
        Self::new("invalid_client", description)
    }

    /// The answer of an endpoint that programs talk to.
    pub(super) fn answer(&self) -> Answer {
        let body = json!({ "error": self.error, "error_description": self.description });
        if self.error == "invalid_client" {
            let scheme = "Basic realm=\"fake-login\"";
            return uncached(Answer::json(401, &body)).header("www-authenticate", scheme);
        }
        uncached(Answer::json(400, &body))
    }
}

/// What holds secrets is kept by nobody on the way.
pub(super) fn uncached(answer: Answer) -> Answer {
    answer.header("cache-control", "no-store")
}

impl Form {
    /// The parameters in an address.
    pub(super) fn of_query(asked: &Asked) -> Result<Self, Refused> {
        Self::read(asked.query.as_bytes())
    }

    /// The parameters in a body.
    pub(super) fn of_body(asked: &Asked) -> Result<Self, Refused> {
        let kind = asked.header("content-type").unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Err(Refused::request("the body is no form"));
        }
        Self::read(&asked.body)
    }

    fn read(bytes: &[u8]) -> Result<Self, Refused> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for (name, value) in url::form_urlencoded::parse(bytes).into_owned() {
            // RFC 6749 §3.1 and §3.2.
            if pairs.iter().any(|(known, _)| *known == name) {
                return Err(Refused::request(format!("{name} is there twice")));
            }
            pairs.push((name, value));
        }
        Ok(Self(pairs))
    }

    /// A parameter; one without a value counts as absent (RFC 6749 §3.1).
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// A parameter that must be there.
    pub(super) fn need(&self, name: &str) -> Result<&str, Refused> {
        self.get(name)
            .ok_or_else(|| Refused::request(format!("{name} is missing")))
    }

    /// The scopes that are asked for, if any are.
    pub(super) fn scopes(&self) -> Option<Vec<String>> {
        let scopes = self.get("scope")?.split(' ');
        Some(scopes.map(str::to_owned).collect())
    }
}
