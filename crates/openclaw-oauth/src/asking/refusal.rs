//! What an authorization server says where it says no.

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::Value as Json;
use url::form_urlencoded;

use super::form::Form;

/// What an authorization server says where it says no (RFC 6749 §5.2, RFC 7591 §3.2.2).
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The status of the answer.
    pub(crate) status: StatusCode,
    /// The error, cleaned.
    pub(crate) code: Option<String>,
    description: Option<String>,
}

impl Refusal {
    /// What an answer says.
    pub(crate) fn read(answer: &Response<Bytes>, form: &Form) -> Self {
        let (code, description) = read(answer);
        Self::new(answer.status(), code, description, form)
    }

    /// A refusal in these words, without what was hidden in the form.
    pub(crate) fn new(
        status: StatusCode,
        code: Option<String>,
        description: Option<String>,
        form: &Form,
    ) -> Self {
        let cleaned = |text: Option<String>| {
            let text = text.map(|text| form.quoted(&text));
            text.filter(|text| !text.is_empty())
        };
        Self {
            status,
            code: cleaned(code),
            description: cleaned(description),
        }
    }

    /// Whether it may be different the next time.
    pub(crate) fn is_passing(&self) -> bool {
        is_passing(self.status)
            || matches!(
                self.code.as_deref(),
                Some("temporarily_unavailable" | "server_error" | "slow_down")
            )
    }

    /// The refusal in words.
    pub(crate) fn words(&self) -> String {
        match (&self.code, &self.description) {
            (Some(code), Some(description)) => format!("`{code}`: {description}"),
            (Some(code), None) => format!("`{code}`"),
            (None, Some(description)) => {
                format!("status {}: {description}", self.status.as_u16())
            }
            (None, None) if self.status.is_redirection() => format!(
                "status {}: it leads elsewhere, and that is not followed",
                self.status.as_u16()
            ),
            (None, None) => format!("status {}, without a reason", self.status.as_u16()),
        }
    }
}

/// Whether a status says that it may be different the next time.
pub(crate) fn is_passing(status: StatusCode) -> bool {
    status.is_server_error()
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS
        )
}

/// Whether an answer is a form itself, as some old servers give it.
pub(crate) fn is_form(answer: &Response<Bytes>) -> bool {
    let of = answer.headers().get(http::header::CONTENT_TYPE);
    let of = of.and_then(|of| of.to_str().ok()).unwrap_or_default();
    let of = of.split(';').next().unwrap_or_default();
    of.trim()
        .eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

/// The error in an answer and its description.
fn read(answer: &Response<Bytes>) -> (Option<String>, Option<String>) {
    let mut found = (None, None);
    if is_form(answer) {
        for (name, value) in form_urlencoded::parse(answer.body()) {
            match &*name {
                "error" => found.0 = Some(value.into_owned()),
                "error_description" => found.1 = Some(value.into_owned()),
                _ => {}
            }
        }
    } else if let Ok(Json::Object(mut document)) = serde_json::from_slice(answer.body()) {
        let mut text = |name: &str| match document.remove(name) {
            Some(Json::String(text)) => Some(text),
            _ => None,
        };
        found = (text("error"), text("error_description"));
        // Not by the rules, but common.
        found.1 = found.1.or_else(|| text("message"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(status: u16, content_type: &str, body: &'static str) -> Refusal {
        let answer = Response::builder()
            .status(status)
            .header("content-type", content_type)
            .body(Bytes::from_static(body.as_bytes()))
            .unwrap();
        Refusal::read(&answer, &Form::default())
    }

    #[test]
    fn a_refusal_is_put_in_words() {
        for (status, content_type, body, words, passing) in [
            (
                400,
                "application/json",
                r#"{"error":"invalid_grant","error_description":"too\u001b[31m\nold"}"#,
                "`invalid_grant`: too old",
                false,
            ),
            (400, "", r#"{"error":"slow_down"}"#, "`slow_down`", true),
            (
                400,
                "Application/X-WWW-form-urlencoded; charset=utf-8",
                "error=invalid_client&error_description=who+are+you",
                "`invalid_client`: who are you",
                false,
            ),
            (
                403,
                "application/json",
                r#"{"message":"Forbidden"}"#,
                "status 403: Forbidden",
                false,
            ),
            (
                403,
                "text/html",
                "<html>no</html>",
                "status 403, without a reason",
                false,
            ),
            (
                400,
                "application/json",
                r#"{"error":{"code":7}}"#,
                "status 400, without a reason",
                false,
            ),
            (400, "", "[1]", "status 400, without a reason", false),
            (503, "text/html", "", "status 503, without a reason", true),
            (429, "", r#"{"error":"x"}"#, "`x`", true),
            (
                302,
                "",
                "",
                "status 302: it leads elsewhere, and that is not followed",
                false,
            ),
        ] {
            let refusal = refusal(status, content_type, body);
            assert_eq!(refusal.words(), words, "{body}");
            assert_eq!(refusal.is_passing(), passing, "{body}");
        }
    }
}
