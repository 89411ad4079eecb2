//! What a server says about itself (RFC 9728).

use url::Url;

use super::document::{Document, Instead, Troubles, document, text, texts};
use super::well_known;
use crate::asking::{Asking, shown};
use crate::challenge::Challenge;
use crate::error::{OAuthError, quoted};
use crate::scopes;

/// How many authorization servers are tried.
const MOST_SERVERS: usize = 8;

/// What a server says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResourceMetadata {
    /// How it calls itself.
    pub(super) resource: String,
    /// Who grants tokens for it, the best first.
    pub(super) authorization_servers: Vec<String>,
    /// What can be allowed.
    pub(super) scopes: Vec<String>,
}

/// What was found.
pub(super) enum Described {
    /// A description.
    Document(ResourceMetadata),
    /// None.
    Nothing {
        /// What there is instead, if there is something.
        instead: Option<OAuthError>,
    },
}

/// Finds what a server says about itself: where it says so itself, else at the usual places.
pub(super) async fn find(
    asking: &Asking,
    server: &Url,
    challenge: &Challenge,
) -> Result<Described, OAuthError> {
    if let Some(place) = &challenge.resource_metadata {
        let found = document(asking, place).await.map_err(|instead| {
            let missing = || OAuthError::lasting(format!("there is nothing at {}", shown(place)));
            let error = match instead {
                Instead::Absence => missing(),
                Instead::Other(error) | Instead::Unknown(error) => error,
            };
            error.hint(
                "the server says that it is described there; if that is wrong, set \
                 `auth.authorizationServerUrl`",
            )
        })?;
        // RFC 9728 §3.3: what is about somebody else is not used, and neither is anything in its
        // place.
        return ResourceMetadata::read(&found, place, server).map(Described::Document);
    }
    let mut troubles = Troubles::default();
    for place in well_known::of_resource(server) {
        match document(asking, &place).await {
            Ok(found) => match ResourceMetadata::read(&found, &place, server) {
                Ok(description) => return Ok(Described::Document(description)),
                Err(error) => troubles.refuse(error),
            },
            Err(instead) => troubles.note(instead),
        }
    }
    match troubles.serious() {
        Some(error) => Err(error),
        None => Ok(Described::Nothing {
            instead: troubles.other,
        }),
    }
}

impl ResourceMetadata {
    /// What is assumed of a server that says nothing: it is called by its address (MCP, "Canonical
    /// Server URI"), without what is behind `?`, which may be a key and nobody's business.
    pub(super) fn of_server(server: &Url) -> Self {
        let path = server.path();
        let path = if path == "/" { "" } else { path };
        Self {
            resource: format!("{}{path}", server.origin().ascii_serialization()),
            authorization_servers: Vec::new(),
            scopes: Vec::new(),
        }
    }

    fn read(found: &Document, place: &Url, server: &Url) -> Result<Self, OAuthError> {
        let place = shown(place);
        let refused = |reason: String| {
            OAuthError::lasting(reason)
                .hint("if the server is right, set `auth.authorizationServerUrl`")
        };
        let resource = text(found, "resource");
        let resource =
            resource.ok_or_else(|| refused(format!("{place} does not say what it is about")))?;
        if !is_about(resource, server) {
            let (resource, server) = (quoted(resource), shown(server));
            return Err(refused(format!(
                "{place} is about `{resource}`, not about {server}"
            )));
        }
        let mut servers = texts(found, "authorization_servers").unwrap_or_default();
        servers.truncate(MOST_SERVERS);
        let mut known = Vec::new();
        let listed = texts(found, "scopes_supported").unwrap_or_default();
        scopes::add(&mut known, listed.iter().map(String::as_str));
        Ok(Self {
            resource: resource.to_owned(),
            authorization_servers: servers,
            scopes: known,
        })
    }
}

/// Whether a resource is the server or what it is a part of. A token for a part of another server,
/// or for another part of this one, is not ours to ask for.
fn is_about(resource: &str, server: &Url) -> bool {
    // What an address may not have, and a lenient parser drops.
    let is_strange = |character: char| character.is_whitespace() || character.is_control();
    if resource.contains(is_strange) {
        return false;
    }
    let Ok(resource) = Url::parse(resource) else {
        return false;
    };
    let is_plain = resource.fragment().is_none()
        && resource.username().is_empty()
        && resource.password().is_none();
    let has_same_query = resource.query().is_none() || resource.query() == server.query();
    let (own, other) = (server.path(), resource.path());
    // `/mcp/` is `/mcp`, too.
    let below = own
        .strip_prefix(other.strip_suffix('/').unwrap_or(other))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    matches!(resource.scheme(), "http" | "https")
        && is_plain
        && has_same_query
        && resource.origin() == server.origin()
        && below
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn server() -> Url {
        Url::parse("https://a.example/v1/mcp?key=1").unwrap()
    }

    fn read(found: &serde_json::Value) -> Result<ResourceMetadata, OAuthError> {
        let place = Url::parse("https://a.example/.well-known/x?secret").unwrap();
        ResourceMetadata::read(found.as_object().unwrap(), &place, &server())
    }

    #[test]
    fn a_description_is_about_the_server_or_what_it_is_a_part_of() {
        for (resource, expected) in [
            ("https://a.example/v1/mcp", true),
            ("https://a.example/v1/mcp/", true),
            ("https://a.example/v1", true),
            ("https://a.example/v1/", true),
            ("https://a.example", true),
            ("https://A.example:443/", true),
            ("https://a.example/v1/mcp?key=1", true),
            ("https://a.example/v1/mcp?key=2", false),
            ("https://a.example/v1/mc", false),
            ("https://a.example/v1/mcp/more", false),
            ("https://a.example/v1/mcp#part", false),
            ("https://a.example/v2", false),
            ("https://a.example/v1/mcp//", false),
            ("https://user@a.example/v1", false),
            ("https://a.example:8443/v1/mcp", false),
            ("https://a.example.evil/v1/mcp", false),
            ("http://a.example/v1/mcp", false),
            ("https://a.example/v1/mcp\n", false),
            ("a.example", false),
            ("/v1/mcp", false),
            ("urn:mcp", false),
        ] {
            assert_eq!(is_about(resource, &server()), expected, "{resource}");
        }
    }

    #[test]
    fn a_description_is_read_leniently_but_for_whom_it_is_about() {
        let read_one = read(&json!({
            "resource": "https://A.example",
            "authorization_servers": ["https://one.example", 7, "https://two.example/"],
            "scopes_supported": ["a", null, "b c", "a"],
        }));
        assert_eq!(
            read_one,
            Ok(ResourceMetadata {
                resource: "https://A.example".to_owned(),
                authorization_servers: vec![
                    "https://one.example".to_owned(),
                    "https://two.example/".to_owned()
                ],
                scopes: vec!["a".to_owned()],
            })
        );
        let lean = json!({ "resource": "https://a.example", "scopes_supported": "a" });
        assert_eq!(read(&lean).unwrap().scopes, Vec::<String>::new());

        let error = read(&json!({ "resource": "https://evil.example/\u{1b}[2J" }));
        assert_eq!(
            error.unwrap_err().to_string(),
            "https://a.example/.well-known/x is about `https://evil.example/`, \
             not about https://a.example/v1/mcp"
        );
        for found in [json!({}), json!({ "resource": ["https://a.example"] })] {
            let error = read(&found).unwrap_err().to_string();
            assert_eq!(
                error,
                "https://a.example/.well-known/x does not say what it is about"
            );
        }
    }

    #[test]
    fn who_says_nothing_is_called_by_the_address() {
        for (server, expected) in [
            ("https://A.example:443/?key=1", "https://a.example"),
            ("https://a.example:1/mcp?key=1#x", "https://a.example:1/mcp"),
            ("https://a.example/mcp/", "https://a.example/mcp/"),
        ] {
            let of_server = ResourceMetadata::of_server(&Url::parse(server).unwrap());
            assert_eq!(of_server.resource, expected);
        }
    }
}
