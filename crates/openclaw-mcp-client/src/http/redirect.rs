//! Where a server sends us, and whether we go there.

use http::header::LOCATION;
use http::{HeaderMap, StatusCode};
use url::Url;

use super::error::{HttpError, Refusal};
use super::excerpt::one_line;

/// How many redirects of one request are followed.
pub(super) const MOST: usize = 5;

/// Returns where to go next, if an answer says so.
///
/// The method and the body are kept in every case, also where browsers turn a POST into a GET: the
/// request means nothing without them. 303 says that the request was processed and its answer lies
/// elsewhere; it is left to the caller as the failure that it is.
pub(super) fn next_address(
    from: &Url,
    status: StatusCode,
    headers: &HeaderMap,
    followed: usize,
) -> Result<Option<Url>, HttpError> {
    let moved = matches!(
        status,
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let location = headers
        .get(LOCATION)
        .and_then(|location| str::from_utf8(location.as_bytes()).ok())
        .and_then(|location| from.join(location).ok());
    let Some(to) = location.filter(|_| moved) else {
        return Ok(None);
    };
    let refusal = if !is_same_place(from, &to) {
        Refusal::OtherOrigin
    } else if followed >= MOST {
        Refusal::TooMany
    } else {
        return Ok(Some(to));
    };
    Err(HttpError::Redirected {
        to: without_secrets(&to),
        why: refusal,
    })
}

/// Whether headers for one address may be sent to another: it has the same origin, or is the same
/// host with TLS added.
fn is_same_place(from: &Url, to: &Url) -> bool {
    let is_upgrade = (from.scheme(), to.scheme()) == ("http", "https")
        && from.host() == to.host()
        && from.port().is_none()
        && to.port().is_none();
    is_upgrade || (from.origin().is_tuple() && from.origin() == to.origin())
}

/// An address without its user, password, query and fragment.
pub(super) fn without_secrets(url: &Url) -> String {
    one_line(&if url.has_host() {
        format!("{}{}", origin(url), url.path())
    } else {
        format!("`{}:`", url.scheme())
    })
}

/// The scheme, host and port of an address.
pub(super) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn next(from: &str, status: u16, location: &str) -> Result<Option<String>, String> {
        let mut headers = HeaderMap::new();
        headers.insert(LOCATION, HeaderValue::from_str(location).unwrap());
        let status = StatusCode::from_u16(status).unwrap();
        next_address(&Url::parse(from).unwrap(), status, &headers, 0)
            .map(|url| url.map(String::from))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_same_origin_is_followed() {
        let to = |text: &str| Ok(Some(text.to_owned()));
        for status in [301, 302, 307, 308] {
            let next = next("http://a.example:81/mcp?k=1", status, "/mcp/");
            assert_eq!(next, to("http://a.example:81/mcp/"), "{status}");
        }
        let absolute = next("https://a.example/x/y", 308, "https://A.example:443/z?q");
        assert_eq!(absolute, to("https://a.example/z?q"));
        assert_eq!(
            next("http://a.example/x", 301, "https://a.example/x"),
            to("https://a.example/x")
        );
        assert_eq!(
            next("http://a.example/x", 301, "//a.example/y"),
            to("http://a.example/y")
        );
    }

    #[test]
    fn other_origins_are_not() {
        for (from, location) in [
            ("https://a.example/", "https://b.example/x?token=1"),
            ("https://a.example/", "http://a.example/"),
            ("https://a.example/", "https://a.example:444/"),
            ("http://a.example:81/", "https://a.example/"),
            ("http://a.example/", "https://a.example:8443/"),
            ("http://a.example/", "https://sub.a.example/"),
            ("http://a.example/", "file:///etc/passwd"),
            ("http://a.example/", "data:text/plain,x"),
        ] {
            let refused = next(from, 307, location);
            assert!(refused.is_err(), "{from} {location} {refused:?}");
        }
        let message = next(
            "https://a.example/",
            307,
            "https://u:p@b.example:4/x?token=1#f",
        );
        let message = message.unwrap_err();
        assert!(message.contains("https://b.example:4/x,"), "{message}");
        assert!(
            !message.contains("token") && !message.contains("u:p"),
            "{message}"
        );
    }

    #[test]
    fn other_answers_are_no_redirects() {
        for status in [200, 300, 303, 304, 305, 401] {
            assert_eq!(
                next("http://a.example/", status, "/x"),
                Ok(None),
                "{status}"
            );
        }
        assert_eq!(next("http://a.example/", 307, "http://["), Ok(None));
    }
}
