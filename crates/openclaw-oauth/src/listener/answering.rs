//! What is answered to a request: the page after a login, or that there is nothing here.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, HOST};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use openclaw_secrets::Secret;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::page::Page;
use super::{Arrived, Reply};

/// The names of this machine in an address.
const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// What a browser comes back to.
#[derive(Debug)]
pub(super) struct Door {
    /// The path that it asks for.
    pub(super) path: String,
    pub(super) port: u16,
    /// Where it is announced.
    pub(super) arrived: mpsc::Sender<Arrived>,
    /// How long it waits to be told something.
    pub(super) patience: Duration,
}

impl Door {
    /// Answers a request. Only one that brings something to the right place is announced.
    pub(super) async fn answer<Body>(&self, request: &Request<Body>) -> Response<Full<Bytes>> {
        let uri = request.uri();
        if !self.is_meant(request) {
            return Page::nothing().response(StatusCode::MISDIRECTED_REQUEST);
        }
        if uri.path() != self.path {
            return Page::nothing().response(StatusCode::NOT_FOUND);
        }
        if request.method() != Method::GET {
            let mut response = Page::nothing().response(StatusCode::METHOD_NOT_ALLOWED);
            response
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("GET"));
            return response;
        }
        let Some(query) = uri.query().filter(|query| !query.is_empty()) else {
            return Page::nothing().response(StatusCode::BAD_REQUEST);
        };
        let page = self.announce(query).await;
        let status = page.status();
        page.response(status)
    }

    async fn announce(&self, query: &str) -> Page {
        let (reply, told) = oneshot::channel();
        let arrived = Arrived {
            query: Secret::new(query),
            reply: Reply(reply),
        };
        // There is a place for every connection, so it fails only if nobody waits any more.
        if self.arrived.try_send(arrived).is_err() {
            return Page::undecided();
        }
        match timeout(self.patience, told).await {
            Ok(Ok(page)) => page,
            Ok(Err(_)) | Err(_) => Page::undecided(),
        }
    }

    /// Whether a request names this machine and our port. A page from elsewhere can have its own
    /// name lead here, and would then be allowed to read our answers.
    fn is_meant<Body>(&self, request: &Request<Body>) -> bool {
        let mut hosts = request.headers().get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return false;
        };
        let names = |host: &str| is_here(host, self.port);
        host.to_str().is_ok_and(names)
            && request
                .uri()
                .authority()
                .is_none_or(|authority| names(authority.as_str()))
    }
}

/// Whether a host and a port are those of this machine, as browsers write them.
fn is_here(host: &str, port: u16) -> bool {
    let host = host.to_ascii_lowercase();
    NAMES
        .iter()
        .filter_map(|name| host.strip_prefix(name))
        .any(|rest| match rest.strip_prefix(':') {
            Some(given) => given == port.to_string(),
            None => rest.is_empty() && port == 80,
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_names_of_this_machine_with_our_port_are_meant() {
        for host in ["127.0.0.1:80", "localhost", "LOCALHOST:80", "[::1]"] {
            assert!(is_here(host, 80), "{host}");
        }
        for host in ["127.0.0.1:8123", "localhost:8123", "[::1]:8123"] {
            assert!(is_here(host, 8123), "{host}");
            assert!(!is_here(host, 8124), "{host}");
        }
        let others = [
            "",
            "127.0.0.1",
            "evil.example:8123",
            "localhost.evil.example:8123",
            "127.0.0.2:8123",
            "0.0.0.0:8123",
            "[::]:8123",
            "user@127.0.0.1:8123",
            "127.0.0.1:8123/",
            "127.0.0.1:8123#",
            "127.0.0.1:8123, evil.example",
        ];
        for host in others {
            assert!(!is_here(host, 8123), "{host}");
        }
    }

    proptest! {
        #[test]
        fn any_host_is_survived(host in "\\PC{0,60}", port in any::<u16>()) {
            let _ = is_here(&host, port);
        }

        #[test]
        fn nobody_elses_name_is_meant(name in "[a-z0-9-]{1,20}(\\.[a-z0-9-]{1,20}){1,3}", port in 1_u16..) {
            prop_assume!(name != "127.0.0.1");
            let host = format!("{name}:{port}");
            prop_assert!(!is_here(&host, port), "{host}");
        }
    }
}
