//! The client metadata document: what somebody publishes about us, whose address is our identifier.

use serde_json::{Value as Json, json};
use url::Url;

use super::NAME;
use crate::resource::Redirect;

/// The client metadata document to publish at an address (OAuth Client ID Metadata Document §4).
///
/// One document serves all servers, so it names all places that browsers are sent to for one of them; where
/// none is given, the usual one.
pub fn metadata_document(url: &Url, redirects: &[Redirect]) -> Json {
    let usual = [Redirect::default()];
    let redirects = if redirects.is_empty() {
        &usual
    } else {
        redirects
    };
    let mut addresses: Vec<String> = Vec::new();
    for address in redirects.iter().flat_map(redirect_addresses) {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    json!({
        "client_id": url.as_str(),
        "client_name": NAME,
        "redirect_uris": addresses,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    })
}

/// Where browsers may be sent to. A document serves for every server, whatever its configuration
/// calls this machine; a port that is not fixed is left out, and authorization servers take any
/// then (RFC 8252 §7.3).
fn redirect_addresses(redirect: &Redirect) -> Vec<String> {
    match redirect {
        Redirect::Elsewhere(url) => vec![url.to_string()],
        Redirect::Here { host, port, path } => {
            let port = port.map(|port| format!(":{port}")).unwrap_or_default();
            let mut hosts = vec![host.as_str()];
            let usual = ["127.0.0.1", "localhost"];
            hosts.extend(usual.into_iter().filter(|usual| usual != host));
            let address = |host: &str| format!("http://{host}{port}{path}");
            hosts.into_iter().map(address).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(redirect: &Redirect) -> Json {
        let url = Url::parse("https://client.example/oauth.json").unwrap();
        metadata_document(&url, std::slice::from_ref(redirect))
    }

    fn here(host: &str, port: Option<u16>) -> Redirect {
        Redirect::Here {
            host: host.to_owned(),
            port,
            path: "/callback".to_owned(),
        }
    }

    #[test]
    fn a_document_is_about_its_own_address() {
        assert_eq!(
            document(&here("127.0.0.1", None)),
            json!({
                "client_id": "https://client.example/oauth.json",
                "client_name": "OpenClaw",
                "redirect_uris": ["http://127.0.0.1/callback", "http://localhost/callback"],
                "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
                "token_endpoint_auth_method": "none",
                "application_type": "native",
            })
        );
    }

    #[test]
    fn one_document_names_the_places_of_all_servers_each_once() {
        let url = Url::parse("https://client.example/oauth.json").unwrap();
        let usual = here("127.0.0.1", None);
        let redirects = [
            usual.clone(),
            here("localhost", None),
            here("[::1]", Some(1)),
            usual,
        ];
        let document = metadata_document(&url, &redirects);
        assert_eq!(
            document["redirect_uris"],
            json!([
                "http://127.0.0.1/callback",
                "http://localhost/callback",
                "http://[::1]:1/callback",
                "http://127.0.0.1:1/callback",
                "http://localhost:1/callback"
            ])
        );
        let default = metadata_document(&url, &[]);
        assert_eq!(default, metadata_document(&url, &[Redirect::default()]));
    }

    #[test]
    fn browsers_may_be_sent_to_where_the_configuration_says() {
        let elsewhere = Redirect::Elsewhere(Url::parse("https://gateway.example/back").unwrap());
        for (redirect, expected) in [
            (
                here("localhost", Some(8080)),
                json!([
                    "http://localhost:8080/callback",
                    "http://127.0.0.1:8080/callback"
                ]),
            ),
            (
                here("[::1]", None),
                json!([
                    "http://[::1]/callback",
                    "http://127.0.0.1/callback",
                    "http://localhost/callback"
                ]),
            ),
            (elsewhere, json!(["https://gateway.example/back"])),
        ] {
            assert_eq!(document(&redirect)["redirect_uris"], expected);
        }
    }
}
