//! What every answer says to browsers.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// For what is data: a browser shows nothing of it and runs nothing in it.
const API: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
/// For the page: everything comes from here, and nothing stands in the page itself.
const PAGE: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                    media-src data:; connect-src 'self'; base-uri 'none'; \
                    form-action 'none'; frame-ancestors 'none'";

/// What is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Data.
    Api,
    /// The page and its files.
    Page,
}

/// How many headers an answer has as a rule: these, its type and its name.
pub(crate) const COUNT: usize = 8;

/// Says it.
pub(crate) fn add(headers: &mut HeaderMap, kind: Kind) {
    let policy = match kind {
        Kind::Api => API,
        Kind::Page => PAGE,
    };
    let caching = match kind {
        Kind::Api => "no-store",
        Kind::Page => "no-cache",
    };
    let all = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, caching),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    // Together, so that there is no need to grow twice.
    headers.reserve(COUNT.saturating_sub(headers.len()));
    for (name, value) in all {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
