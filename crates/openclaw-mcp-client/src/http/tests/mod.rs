//! The layer against servers that behave and servers that don't.

mod authorization;
mod breakage;
mod certificates;
mod connections;
mod proxies;
mod redirects;
mod requests;
mod server;
mod statuses;
mod streams;
mod tls;
mod tls_files;
mod version_two;

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use hyper::body::Frame;
use openclaw_secrets::Secret;
use tokio::time::{Sleep, sleep};
use url::Url;

use super::{Answer, Body, HttpClients, HttpEndpoint, HttpError};
use crate::target::{Authorization, TlsSettings};

/// Long enough for whatever works.
const LONG: Duration = Duration::from_secs(20);
/// Long enough for a connection on this machine, and short enough to wait for.
const SHORT: Duration = Duration::from_millis(300);
/// As large as anything gets here.
const LIMIT: usize = 1024 * 1024;

/// Pools that use no proxy.
fn clients() -> HttpClients {
    HttpClients::new(|_| None)
}

fn endpoint(address: &str) -> HttpEndpoint {
    endpoint_of(&clients(), address, &TlsSettings::default())
}

fn endpoint_of(clients: &HttpClients, address: &str, tls: &TlsSettings) -> HttpEndpoint {
    let client = clients.get(tls).unwrap();
    let headers = [("X-Key".to_owned(), Secret::new("secret-value"))];
    let url = Url::parse(address).unwrap();
    HttpEndpoint::new(
        client,
        url,
        &headers,
        &Authorization::Fixed(Secret::new("Bearer secret-token")),
    )
    .unwrap()
}

async fn post(endpoint: &HttpEndpoint, body: &'static str) -> Result<Answer, HttpError> {
    let body = Bytes::from_static(body.as_bytes());
    endpoint.post(HeaderMap::new(), body, LONG).await
}

/// Posts, and expects a JSON text.
async fn post_for_json(endpoint: &HttpEndpoint, body: &'static str) -> String {
    let answer = post(endpoint, body).await.unwrap();
    let Body::Json(json) = answer.body else {
        panic!("{answer:?}");
    };
    let text = json.read(LIMIT, LONG).await.unwrap();
    String::from_utf8(text.to_vec()).unwrap()
}

/// A body of single bytes with a pause before each.
pub(super) struct SlowBody {
    pause: Duration,
    left: usize,
    sleep: Pin<Box<Sleep>>,
}

impl SlowBody {
    pub(super) fn new(pause: Duration, length: usize) -> Self {
        Self {
            pause,
            left: length,
            sleep: Box::pin(sleep(pause)),
        }
    }
}

impl hyper::body::Body for SlowBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        ready!(self.sleep.as_mut().poll(context));
        self.left -= 1;
        self.sleep = Box::pin(sleep(self.pause));
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"x")))))
    }
}
