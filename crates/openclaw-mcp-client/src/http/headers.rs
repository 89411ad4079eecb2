//! The headers that go with every request to an address.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{AUTHORIZATION, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};
use openclaw_secrets::Secret;
use percent_encoding::percent_decode_str;
use thiserror::Error;
use url::Url;

/// Who we are, unless the configuration says something else.
const OURS: HeaderValue = HeaderValue::from_static(concat!("openclaw/", env!("CARGO_PKG_VERSION")));

/// Headers that belong to the transport. Configurations often repeat `Accept` and `Content-Type`
/// from some example, so these are left out rather than refused. (`Host` may be set: it is how a
/// server behind an address is chosen. `Accept-Encoding` would ask for what we don't decode.)
const RESERVED: &[&str] = &[
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "proxy-authorization",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// What the headers begin with that repeat a tool's arguments.
const RESERVED_PREFIX: &str = "mcp-param-";

/// A header that can't be sent. Its value is not told.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum HeaderError {
    /// Its name is none.
    #[error("`{}` cannot be the name of a header", .0.escape_debug())]
    Name(String),
    /// Its value holds something that a header can't.
    #[error("the value of the header `{0}` has a line break or another control character in it")]
    Value(String),
}

/// The headers for every request to an address.
#[derive(Debug)]
pub(super) struct FixedHeaders {
    pub(super) headers: HeaderMap,
    /// Those of the configuration that are not sent.
    pub(super) left_out: Vec<HeaderName>,
}

/// Makes the headers for every request to an address.
pub(super) fn fixed_headers(
    url: &Url,
    headers: &[(String, Secret)],
    authorization: Option<&Secret>,
) -> Result<FixedHeaders, HeaderError> {
    let mut left_out = Vec::new();
    let mut fixed = HeaderMap::with_capacity(headers.len() + 2);
    for (name, value) in headers {
        let parsed =
            HeaderName::try_from(name.trim()).map_err(|_| HeaderError::Name(name.clone()))?;
        if RESERVED.contains(&parsed.as_str()) || parsed.as_str().starts_with(RESERVED_PREFIX) {
            left_out.push(parsed);
            continue;
        }
        let value = sensitive(&parsed, value.expose())?;
        fixed.insert(parsed, value);
    }
    // An `Authorization` among the headers wins over every other one.
    if !fixed.contains_key(AUTHORIZATION) {
        let value = match authorization {
            Some(authorization) => Some(sensitive_authorization(authorization)?),
            None => user_and_password(url)
                .map(|value| sensitive(&AUTHORIZATION, value.expose()))
                .transpose()?,
        };
        fixed.extend(value.map(|value| (AUTHORIZATION, value)));
    }
    if !fixed.contains_key(USER_AGENT) {
        fixed.insert(USER_AGENT, OURS);
    }
    Ok(FixedHeaders {
        headers: fixed,
        left_out,
    })
}

/// The value of `Authorization`.
pub(crate) fn sensitive_authorization(value: &Secret) -> Result<HeaderValue, HeaderError> {
    sensitive(&AUTHORIZATION, value.expose())
}

fn sensitive(name: &HeaderName, value: &str) -> Result<HeaderValue, HeaderError> {
    let mut value = HeaderValue::from_str(value.trim())
        .map_err(|_| HeaderError::Value(name.as_str().to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// The user and the password of an address, which mean basic authorization (RFC 7617).
fn user_and_password(url: &Url) -> Option<Secret> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let mut pair = percent_decode_str(url.username()).collect::<Vec<u8>>();
    pair.push(b':');
    pair.extend(percent_decode_str(url.password().unwrap_or_default()));
    Some(Secret::new(format!(
        "Basic {}",
        BASE64_STANDARD.encode(pair)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(address: &str, headers: &[(&str, &str)], own: Option<&str>) -> HeaderMap {
        let url = Url::parse(address).unwrap();
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), Secret::new(*value)))
            .collect();
        let fixed = fixed_headers(&url, &headers, own.map(Secret::new).as_ref()).unwrap();
        fixed.headers
    }

    #[test]
    fn only_the_headers_of_the_transport_are_left_out() {
        let url = Url::parse("https://example.com").unwrap();
        let ours = [
            "Accept",
            "mcp-session-id",
            "Mcp-Protocol-Version",
            "Mcp-Method",
            "mcp-name",
            "Mcp-Param-Region",
            "Proxy-Authorization",
            "TE",
        ];
        let theirs = ["Mcp-Api-Key", "MCP-Tenant", "Last-Event-Id", "X-Trailer"];
        let headers: Vec<_> = ours
            .iter()
            .chain(&theirs)
            .map(|name| ((*name).to_owned(), Secret::new("x")))
            .collect();
        let fixed = fixed_headers(&url, &headers, None).unwrap();
        let lower = |names: &[&str]| -> Vec<_> {
            names.iter().map(|name| name.to_ascii_lowercase()).collect()
        };
        let left_out: Vec<_> = fixed.left_out.iter().map(HeaderName::as_str).collect();
        assert_eq!(left_out, lower(&ours));
        for name in theirs {
            assert!(fixed.headers.contains_key(name), "{name}");
        }
    }

    #[test]
    fn headers_of_the_transport_cannot_be_overridden() {
        let headers = [
            ("Content-Type", "text/plain"),
            ("ACCEPT", "text/html"),
            ("Content-Length", "1"),
            ("Mcp-Session-Id", "stolen"),
            ("Host", "other.example"),
            ("Origin", "https://app.example"),
            ("X-Api-Key", "key"),
            ("User-Agent", "mine"),
        ];
        let fixed = made("https://example.com", &headers, None);
        let mut names: Vec<_> = fixed.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["host", "origin", "user-agent", "x-api-key"]);
        assert_eq!(fixed[USER_AGENT], "mine");
        assert!(fixed["x-api-key"].is_sensitive());
        let bare = made("https://example.com", &[], None);
        assert_eq!(bare.len(), 1);
        assert_eq!(bare[USER_AGENT], OURS);
    }

    #[test]
    fn the_configured_authorization_wins() {
        let address = "https://us%20er:p%40ss@example.com";
        let configured = [("authorization", "Token x")];
        assert_eq!(
            made(address, &configured, Some("Bearer y"))[AUTHORIZATION],
            "Token x"
        );
        assert_eq!(
            made(address, &[], Some("Bearer y"))[AUTHORIZATION],
            "Bearer y"
        );
        let basic = &made(address, &[], None)[AUTHORIZATION];
        assert_eq!(basic, "Basic dXMgZXI6cEBzcw==");
        assert!(basic.is_sensitive());
    }

    #[test]
    fn a_line_break_at_the_end_of_a_secret_is_forgiven() {
        assert_eq!(
            made("https://a", &[("x-key", "abc\n")], None)["x-key"],
            "abc"
        );
    }

    #[test]
    fn errors_name_the_header_and_never_the_value() {
        let url = Url::parse("https://example.com").unwrap();
        let headers = [("X-Key".to_owned(), Secret::new("hunter2\nhunter2"))];
        let error = fixed_headers(&url, &headers, None).unwrap_err();
        assert_eq!(error, HeaderError::Value("x-key".to_owned()));
        assert!(!format!("{error} {error:?}").contains("hunter2"));
        let headers = [("X Key\u{1b}".to_owned(), Secret::new("hunter2"))];
        let error = fixed_headers(&url, &headers, None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`X Key\\u{1b}` cannot be the name of a header"
        );
        let error = fixed_headers(&url, &[], Some(&Secret::new("Bearer \0"))).unwrap_err();
        assert_eq!(error, HeaderError::Value("authorization".to_owned()));
    }
}
