//! Where documents usually are.

use url::Url;

/// Where a server describes itself (RFC 9728 §3.1): first what is about its path, then what is
/// about all of it.
pub(super) fn of_resource(server: &Url) -> Vec<Url> {
    let path = server.path().trim_end_matches('/');
    let mut places = Vec::new();
    if !path.is_empty() {
        places.push(at(
            server,
            &format!("/.well-known/oauth-protected-resource{path}"),
        ));
    }
    places.push(at(server, "/.well-known/oauth-protected-resource"));
    places
}

/// Where an authorization server describes itself: RFC 8414 §3.1, then OIDC Discovery
/// with the path behind, then with the path before, as MCP orders them. One with a path is never
/// looked for without it: somebody else may be there.
pub(super) fn of_authorization_server(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let mut places = vec![
        at(
            issuer,
            &format!("/.well-known/oauth-authorization-server{path}"),
        ),
        at(issuer, &format!("/.well-known/openid-configuration{path}")),
    ];
    if !path.is_empty() {
        places.push(at(
            issuer,
            &format!("{path}/.well-known/openid-configuration"),
        ));
    }
    places
}

/// A path at the same origin.
fn at(url: &Url, path: &str) -> Url {
    let mut place = url.clone();
    place.set_path(path);
    place.set_query(None);
    place.set_fragment(None);
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(places: Vec<Url>) -> Vec<String> {
        places.into_iter().map(String::from).collect()
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn a_server_is_described_by_its_path_first() {
        assert_eq!(
            texts(of_resource(&url("https://a.example:8443/v1/mcp/?x=1#y"))),
            [
                "https://a.example:8443/.well-known/oauth-protected-resource/v1/mcp",
                "https://a.example:8443/.well-known/oauth-protected-resource",
            ]
        );
        assert_eq!(
            texts(of_resource(&url("https://a.example"))),
            ["https://a.example/.well-known/oauth-protected-resource"]
        );
    }

    #[test]
    fn an_authorization_server_with_a_path_is_looked_for_with_it() {
        assert_eq!(
            texts(of_authorization_server(&url("https://a.example/tenant/"))),
            [
                "https://a.example/.well-known/oauth-authorization-server/tenant",
                "https://a.example/.well-known/openid-configuration/tenant",
                "https://a.example/tenant/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            texts(of_authorization_server(&url("https://a.example"))),
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration",
            ]
        );
    }
}
