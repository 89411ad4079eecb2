//! Which proxy an address is reached through.

mod tunnel;

use std::net::IpAddr;

use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

pub(super) use self::tunnel::{TunnelError, tunnel};

/// The proxies that the environment names.
#[derive(Debug)]
pub(super) struct Proxies(Matcher);

impl Proxies {
    /// Reads the usual variables, in both spellings.
    pub(super) fn new(variable: impl Fn(&str) -> Option<String>) -> Self {
        let either = |name: &str| {
            variable(name)
                .or_else(|| variable(&name.to_ascii_lowercase()))
                .unwrap_or_default()
        };
        Self(
            Matcher::builder()
                .all(either("ALL_PROXY"))
                .http(either("HTTP_PROXY"))
                .https(either("HTTPS_PROXY"))
                .no(either("NO_PROXY"))
                .build(),
        )
    }

    /// The proxy for an address, if there is one. This machine is never reached through one, even
    /// if `NO_PROXY` forgets to say so: what runs here can't be reached from there.
    pub(super) fn for_address(&self, uri: &Uri) -> Option<Intercept> {
        if uri.host().is_some_and(is_this_machine) {
            return None;
        }
        self.0.intercept(uri)
    }

    /// What a proxy wants to see in a request that it reads itself. (One that only passes on what
    /// it can't read sees this when the tunnel is made.)
    pub(super) fn request_authorization(&self, uri: &Uri) -> Option<HeaderValue> {
        if uri.scheme_str() != Some("http") {
            return None;
        }
        self.for_address(uri)?.basic_auth().cloned()
    }
}

fn is_this_machine(host: &str) -> bool {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost"
        || name.ends_with(".localhost")
        || bare
            .parse::<IpAddr>()
            .is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &'static [(&'static str, &'static str)]) -> Proxies {
        Proxies::new(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn proxy(proxies: &Proxies, address: &str) -> Option<String> {
        let intercept = proxies.for_address(&address.parse().unwrap())?;
        Some(intercept.uri().to_string())
    }

    #[test]
    fn the_usual_variables_count_in_both_spellings() {
        let both = proxies(&[
            ("http_proxy", "plain.example:1"),
            ("HTTPS_PROXY", "http://secure.example:2"),
            ("ALL_PROXY", "http://all.example:3"),
            ("no_proxy", "inner.example, 10.0.0.0/8"),
        ]);
        let used = |address| proxy(&both, address);
        assert_eq!(
            used("http://a.example/").unwrap(),
            "http://plain.example:1/"
        );
        assert_eq!(
            used("https://a.example/").unwrap(),
            "http://secure.example:2/"
        );
        assert_eq!(used("https://x.inner.example/"), None);
        assert_eq!(used("http://10.1.2.3/"), None);
        let all = proxies(&[("all_proxy", "socks5h://all.example:3")]);
        assert_eq!(
            proxy(&all, "https://a.example/").unwrap(),
            "socks5h://all.example:3/"
        );
        assert_eq!(proxy(&proxies(&[]), "https://a.example/"), None);
    }

    #[test]
    fn this_machine_is_never_reached_through_a_proxy() {
        let all = proxies(&[("ALL_PROXY", "http://all.example:3")]);
        for address in [
            "http://localhost:1/",
            "http://LOCALHOST./",
            "http://app.localhost/",
            "https://127.0.0.1/",
            "http://127.9.9.9:8080/",
            "http://[::1]:3/",
            "http://[::ffff:127.0.0.1]/",
        ] {
            assert_eq!(proxy(&all, address), None, "{address}");
        }
        assert!(proxy(&all, "http://localhost.example/").is_some());
    }

    #[test]
    fn a_password_is_sent_in_requests_only_where_the_proxy_reads_them() {
        let all = proxies(&[("ALL_PROXY", "http://user:p%40ss@all.example:3")]);
        let authorization = |address: &str| all.request_authorization(&address.parse().unwrap());
        let value = authorization("http://a.example/").unwrap();
        assert_eq!(value, "Basic dXNlcjpwQHNz");
        assert!(value.is_sensitive());
        assert_eq!(authorization("https://a.example/"), None);
        assert_eq!(authorization("http://localhost/"), None);
        assert!(!format!("{all:?}").contains("p@ss"));
    }
}
