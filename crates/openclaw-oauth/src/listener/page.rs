//! What a browser shows when it has come back: one page, without scripts, that asks for nothing.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::Full;
use ring::digest::{SHA256, digest};

use crate::error::quoted;

const STYLE: &str = include_str!("page.css");

const HEADERS: [(HeaderName, &str); 7] = [
    (CONTENT_TYPE, "text/html; charset=utf-8"),
    // The address of the page has a code in it.
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// What a browser is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page(Told);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    /// The login to this server worked.
    Success(String),
    /// It did not, for this reason.
    Failure(String),
    /// Nobody said how it went.
    Undecided,
    /// Nothing is expected here.
    Nothing,
}

impl Page {
    pub(super) fn success(server: &str) -> Self {
        Self(Told::Success(quoted(server)))
    }

    pub(super) fn failure(words: &str) -> Self {
        Self(Told::Failure(quoted(words)))
    }

    pub(super) fn undecided() -> Self {
        Self(Told::Undecided)
    }

    pub(super) fn nothing() -> Self {
        Self(Told::Nothing)
    }

    /// The status of the answer to a browser that came back.
    pub(super) fn status(&self) -> StatusCode {
        match self.0 {
            Told::Success(_) => StatusCode::OK,
            Told::Undecided => StatusCode::ACCEPTED,
            Told::Failure(_) | Told::Nothing => StatusCode::BAD_REQUEST,
        }
    }

    /// The answer with this page.
    pub(super) fn response(&self, status: StatusCode) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(Bytes::from(self.html())));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        for (name, value) in HEADERS {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if let Ok(policy) = HeaderValue::try_from(policy()) {
            headers.insert(CONTENT_SECURITY_POLICY, policy);
        }
        response
    }

    fn html(&self) -> String {
        let Parts {
            tone,
            mark,
            colour,
            title,
            heading,
            body,
        } = self.parts();
        format!(
            "<!doctype html>\n\
             <html lang=\"en\">\n\
             <head>\n\
             <meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title} · OpenClaw</title>\n\
             <link rel=\"icon\" href=\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' \
             viewBox='0 0 24 24' fill='none' stroke='white' stroke-width='2.5' \
             stroke-linecap='round' stroke-linejoin='round'%3E%3Ccircle cx='12' cy='12' r='12' \
             fill='%23{colour}' stroke='none'/%3E%3Cg transform='translate(4.8 4.8) \
             scale(.6)'%3E%3Cpath d='{mark}'/%3E%3C/g%3E%3C/svg%3E\">\n\
             <style>{STYLE}</style>\n\
             </head>\n\
             <body class=\"{tone}\">\n\
             <main>\n\
             <svg class=\"mark\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"{mark}\"/></svg>\n\
             <h1>{heading}</h1>\n\
             {body}\n\
             <footer>OpenClaw</footer>\n\
             </main>\n\
             </body>\n\
             </html>\n"
        )
    }

    fn parts(&self) -> Parts {
        match &self.0 {
            Told::Success(server) => Parts {
                tone: "good",
                mark: "M4.5 12.5l5 5 10-11",
                colour: "12805c",
                title: "Logged in",
                heading: format!("You are logged in to {}", isolated(server)),
                body: "<p>You can close this window and go back to where you began.</p>".to_owned(),
            },
            Told::Failure(words) => Parts {
                tone: "bad",
                mark: "M6 6l12 12M18 6l-12 12",
                colour: "b3382c",
                title: "Not logged in",
                heading: "The login did not work".to_owned(),
                body: format!(
                    "<p class=\"reason\">{}</p>\n\
                     <p>Go back to where you began: it says there what to do next.</p>",
                    isolated(words)
                ),
            },
            Told::Undecided => Parts {
                tone: "plain",
                mark: "M4 7l5 5-5 5M12 18h8",
                colour: "5b6570",
                title: "Back to where you began",
                heading: "Go back to where you began".to_owned(),
                body:
                    "<p>Your answer has arrived. The terminal shows how the login went.</p>"
                        .to_owned(),
            },
            Told::Nothing => Parts {
                tone: "plain",
                mark: "M12 6.5v7M12 18v.01",
                colour: "5b6570",
                title: "Nothing here",
                heading: "There is nothing here".to_owned(),
                body: "<p>This address takes the answer of a login, and this is none. To log in, start \
                       again from the terminal.</p>"
                    .to_owned(),
            },
        }
    }
}

/// What differs from page to page, fit to stand in HTML.
struct Parts {
    tone: &'static str,
    /// The lines of the mark, in a square of 24.
    mark: &'static str,
    /// The colour of the mark in the tab of the browser.
    colour: &'static str,
    title: &'static str,
    heading: String,
    body: String,
}

/// What the page may do: show itself, in its own style.
fn policy() -> String {
    let hash = BASE64_STANDARD.encode(digest(&SHA256, STYLE.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; img-src data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    )
}

/// A text that means nothing in HTML, and whose direction does not change that of what is around.
fn isolated(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    format!("<bdi>{escaped}</bdi>")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header(response: &Response<Full<Bytes>>, name: &str) -> String {
        response.headers()[name].to_str().unwrap().to_owned()
    }

    #[test]
    fn pages_say_what_happened() {
        let page = Page::success("tavily").html();
        assert!(page.contains("<h1>You are logged in to <bdi>tavily</bdi></h1>"));
        assert!(page.contains("You can close this window and go back to where you began."));
        let page = Page::failure("the login was refused").html();
        assert!(page.contains("<bdi>the login was refused</bdi>"));
        assert!(
            Page::undecided()
                .html()
                .contains("Go back to where you began")
        );
        assert!(Page::nothing().html().contains("There is nothing here"));
    }

    #[test]
    fn foreign_words_are_words() {
        let page = Page::failure("<script>alert(\"1\")</script> & 'x' \u{202e}\u{1b}[2J").html();
        assert!(
            page.contains(
                "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;</bdi>"
            )
        );
        assert!(!page.contains("<script") && !page.contains('\u{202e}'));
        let page = Page::success("{tone}</h1>").html();
        assert!(page.contains("<bdi>{tone}&lt;/h1&gt;</bdi>"));
    }

    #[test]
    fn a_page_may_do_nothing_but_show_itself() {
        let response = Page::nothing().response(StatusCode::NOT_FOUND);
        let policy = header(&response, "content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"));
        assert!(policy.contains("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe") && !policy.contains("script"));
        assert_eq!(header(&response, "referrer-policy"), "no-referrer");
        assert_eq!(header(&response, "cache-control"), "no-store");
        assert_eq!(header(&response, "x-content-type-options"), "nosniff");
    }

    #[test]
    fn the_style_that_is_allowed_is_the_one_in_the_page() {
        let page = Page::success("a").html();
        let (_, rest) = page.split_once("<style>").unwrap();
        let (style, _) = rest.split_once("</style>").unwrap();
        let hash = BASE64_STANDARD.encode(digest(&SHA256, style.as_bytes()));
        assert!(policy().contains(&format!("'sha256-{hash}'")));
        assert_eq!(page.matches("style").count(), 2, "no style elsewhere");
    }

    proptest! {
        #[test]
        fn no_words_can_leave_their_place(words in any::<String>()) {
            let plain = Page::failure("").html();
            let page = Page::failure(&words).html();
            for mark in ["<", ">", "\""] {
                prop_assert_eq!(page.matches(mark).count(), plain.matches(mark).count());
            }
        }
    }
}
