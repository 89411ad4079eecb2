//! What a server says where it wants to know who we are: `WWW-Authenticate`.

mod list;

use url::Url;

use crate::scopes::scope_list;

/// What a server said where it wanted to know who we are (RFC 6750 §3, RFC 9728 §5.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// Where the server describes itself.
    pub resource_metadata: Option<Url>,
    /// The scopes that are needed.
    pub scopes: Vec<String>,
    /// What is wrong, in a word of the protocol, as it was sent.
    pub error: Option<String>,
    /// What is wrong, in other words, as they were sent.
    pub error_description: Option<String>,
}

impl Challenge {
    /// Reads the values of all headers `WWW-Authenticate` of an answer of `server`. What can't be
    /// understood is left out.
    pub fn read(headers: &[String], server: &Url) -> Self {
        let challenges: Vec<_> = headers
            .iter()
            .flat_map(|header| list::challenges(header))
            .collect();
        let bearer = || {
            let all = challenges.iter();
            all.filter(|challenge| challenge.scheme.eq_ignore_ascii_case("bearer"))
        };
        let text = |name: &str| {
            let found = bearer().find_map(|challenge| challenge.parameter(name));
            found.map(str::to_owned).filter(|text| !text.is_empty())
        };
        // RFC 9728 §5.1: it may stand beside other schemes, too.
        let mut metadata = bearer()
            .chain(&challenges)
            .filter_map(|challenge| challenge.parameter("resource_metadata"));
        Self {
            resource_metadata: metadata.find_map(|text| address(text, server)),
            scopes: text("scope").map_or_else(Vec::new, |text| scope_list(&text)),
            error: text("error"),
            error_description: text("error_description"),
        }
    }

    /// Whether more has to be allowed than is.
    pub fn is_insufficient_scope(&self) -> bool {
        self.is("insufficient_scope")
    }

    fn is(&self, code: &str) -> bool {
        let error = self.error.as_deref().unwrap_or_default();
        error.eq_ignore_ascii_case(code)
    }
}

/// An address, which may be relative to that of the server.
fn address(text: &str, server: &Url) -> Option<Url> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let mut url = server.join(text).ok()?;
    url.set_fragment(None);
    matches!(url.scheme(), "http" | "https").then_some(url)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(headers: &[&str]) -> Challenge {
        let headers: Vec<String> = headers.iter().map(|&header| header.to_owned()).collect();
        Challenge::read(&headers, &server())
    }

    fn server() -> Url {
        Url::parse("https://mcp.example.com/v1/mcp?key=1").unwrap()
    }

    fn metadata(headers: &[&str]) -> Option<String> {
        read(headers).resource_metadata.map(String::from)
    }

    #[test]
    fn all_that_a_server_says_is_read() {
        let challenge = read(&[r#"Bearer realm="x", error="insufficient_scope",
            scope="tools:read  tools:write tools:read", error_description="say \"please\"",
            resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource""#]);
        assert_eq!(
            challenge,
            Challenge {
                resource_metadata: Some(
                    Url::parse("https://mcp.example.com/.well-known/oauth-protected-resource")
                        .unwrap()
                ),
                scopes: vec!["tools:read".to_owned(), "tools:write".to_owned()],
                error: Some("insufficient_scope".to_owned()),
                error_description: Some(r#"say "please""#.to_owned()),
            }
        );
        assert!(challenge.is_insufficient_scope());
    }

    #[test]
    fn other_schemes_do_not_speak_for_bearer() {
        let challenge = read(&[
            r#"DPoP algs="ES256", error="invalid_token", scope="dpop", Basic realm="a, Bearer b""#,
            r#"Negotiate dG9rZW4=, bearer scope="one", error=invalid_request"#,
            r#"Bearer scope="two", error_description="second""#,
        ]);
        assert_eq!(challenge.scopes, ["one"]);
        assert_eq!(challenge.error.as_deref(), Some("invalid_request"));
        assert_eq!(challenge.error_description.as_deref(), Some("second"));
        assert_eq!(
            read(&[r#"Basic realm="x", scope="y""#]),
            Challenge::default()
        );
        assert_eq!(read(&[]), Challenge::default());
    }

    #[test]
    fn the_description_is_found_wherever_it_stands() {
        let absolute = "https://mcp.example.com/meta";
        for header in [
            r#"Bearer resource_metadata="https://mcp.example.com/meta""#,
            "Bearer resource_metadata=https://mcp.example.com/meta, scope=x",
            r#"Bearer scope="x" resource_metadata="/meta""#,
            r#"DPoP resource_metadata="https://mcp.example.com/meta""#,
            r#"resource_metadata="https://mcp.example.com/meta""#,
            r#"Bearer , , Resource_Metadata = "../meta#part""#,
            r#"DPoP resource_metadata="https://other.example.com/", Bearer resource_metadata="/meta""#,
            r#"Bearer resource_metadata="ftp://x/", Bearer resource_metadata="/meta"#,
        ] {
            assert_eq!(metadata(&[header]).as_deref(), Some(absolute), "{header}");
        }
        for header in [
            r#"Bearer resource_metadata="""#,
            r#"Bearer resource_metadata="javascript:alert(1)""#,
            r#"Bearer resource_metadata="https://[""#,
            r#"Bearer realm="resource_metadata=/meta""#,
        ] {
            assert_eq!(metadata(&[header]), None, "{header}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_said_is_read(headers in prop::collection::vec(any::<String>(), 0..4)) {
            Challenge::read(&headers, &server());
        }

        #[test]
        fn what_is_quoted_is_read_back(
            description in "[ -~]{1,40}",
            before in "(Negotiate [a-z+/]{1,9}={0,2}, |Basic realm=\"[a-z, ]{0,9}\", |DPoP, )?",
        ) {
            let escaped = description.replace('\\', r"\\").replace('"', "\\\"");
            let header = format!("{before}bEaReR error_description=\"{escaped}\", error=e");
            let challenge = Challenge::read(&[header], &server());
            prop_assert_eq!(challenge.error_description, Some(description));
            prop_assert_eq!(challenge.error.as_deref(), Some("e"));
        }
    }
}
