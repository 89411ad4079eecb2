//! One address with its fixed headers.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, PROXY_AUTHORIZATION};
use http::{HeaderMap, HeaderValue, Method, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use openclaw_secrets::Secret;
use tokio::time::Instant;
use url::Url;

use super::answer::{Answer, discard};
use super::clients::{HttpClient, SendError};
use super::error::HttpError;
use super::failure::HttpFailure;
use super::headers::{HeaderError, fixed_headers};
use super::redirect::{next_address, origin};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON_OR_EVENTS: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The longest deadline: one without end can't be added to the time of day.
const LONGEST: Duration = Duration::from_hours(24);

/// How often a request is sent again that the server says it did nothing with, as HTTP/2 can.
const MOST_REPEATS: usize = 2;

/// One address with the headers that go with every request to it.
#[derive(Clone, Debug)]
pub(crate) struct HttpEndpoint {
    client: HttpClient,
    headers: Arc<HeaderMap>,
    address: Arc<Address>,
}

/// An address in the two forms that are needed.
#[derive(Debug)]
struct Address {
    url: Url,
    /// Without user, password and fragment; none if it is not an HTTP address.
    uri: Option<Uri>,
    /// What a proxy on the way wants to see, if it reads the request itself.
    proxy_authorization: Option<HeaderValue>,
}

impl HttpEndpoint {
    /// Makes an endpoint. `authorization` is the value of that header, unless `headers` has one.
    pub(crate) fn new(
        client: HttpClient,
        url: Url,
        headers: &[(String, Secret)],
        authorization: Option<&Secret>,
    ) -> Result<Self, HeaderError> {
        let headers = Arc::new(fixed_headers(&url, headers, authorization)?);
        let address = Arc::new(Address::new(&client, url));
        Ok(Self {
            client,
            headers,
            address,
        })
    }

    /// The address.
    pub(crate) fn url(&self) -> &Url {
        &self.address.url
    }

    /// The same headers for another address, whose origin must be the same.
    pub(crate) fn at(&self, url: Url) -> Self {
        Self {
            client: self.client.clone(),
            headers: Arc::clone(&self.headers),
            address: Arc::new(Address::new(&self.client, url)),
        }
    }

    /// Sends a JSON text and waits for the head of the answer, redirects included. To read what
    /// explains a failure may take some seconds more.
    pub(crate) async fn post(
        &self,
        mut headers: HeaderMap,
        body: Bytes,
        within: Duration,
    ) -> Result<Answer, HttpError> {
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(ACCEPT, JSON_OR_EVENTS);
        let response = self.exchange(Method::POST, headers, body, within).await?;
        Ok(Answer::read(response).await)
    }

    /// Asks for a stream of events and waits for the head of the answer.
    pub(crate) async fn get(
        &self,
        mut headers: HeaderMap,
        within: Duration,
    ) -> Result<Answer, HttpError> {
        headers.insert(ACCEPT, EVENTS);
        let response = self
            .exchange(Method::GET, headers, Bytes::new(), within)
            .await?;
        Ok(Answer::read(response).await)
    }

    /// Asks the server to delete what is at the address.
    pub(crate) async fn delete(
        &self,
        mut headers: HeaderMap,
        within: Duration,
    ) -> Result<(), HttpError> {
        headers.insert(ACCEPT, JSON_OR_EVENTS);
        let response = self
            .exchange(Method::DELETE, headers, Bytes::new(), within)
            .await?;
        discard(response.into_body()).await;
        Ok(())
    }

    /// Sends a request, follows redirects, and returns the answer if it is one of success.
    async fn exchange(
        &self,
        method: Method,
        mut headers: HeaderMap,
        body: Bytes,
        within: Duration,
    ) -> Result<Response<Incoming>, HttpError> {
        for (name, value) in &*self.headers {
            // Those of the request win: they are the transport's.
            headers.entry(name).or_insert_with(|| value.clone());
        }
        let deadline = Instant::now() + within.min(LONGEST);
        let mut address = Arc::clone(&self.address);
        let (mut followed, mut repeated) = (0, 0);
        loop {
            let request = address.request(&method, &headers, &body)?;
            let response = match self.client.send(request, &address.url, deadline).await {
                Ok(response) => response,
                Err(SendError::Unprocessed(_)) if repeated < MOST_REPEATS => {
                    repeated += 1;
                    continue;
                }
                Err(SendError::Unprocessed(error) | SendError::Final(error)) => return Err(error),
            };
            let status = response.status();
            if status.is_success() {
                return Ok(response);
            }
            match next_address(&address.url, status, response.headers(), followed)? {
                Some(next) => {
                    tracing::debug!(to = %origin(&next), %status, "following a redirect");
                    discard(response.into_body()).await;
                    address = Arc::new(Address::new(&self.client, next));
                    followed += 1;
                }
                None => {
                    return Err(HttpError::Status(Box::new(
                        HttpFailure::read(response).await,
                    )));
                }
            }
        }
    }
}

impl Address {
    fn new(client: &HttpClient, url: Url) -> Self {
        let uri = uri(&url);
        let proxy_authorization = uri.as_ref().and_then(|uri| client.proxy_authorization(uri));
        Self {
            url,
            uri,
            proxy_authorization,
        }
    }

    fn request(
        &self,
        method: &Method,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<Request<Full<Bytes>>, HttpError> {
        let Some(uri) = &self.uri else {
            let scheme = self.url.scheme();
            let reason = format!("cannot send to an address that begins with `{scheme}:`");
            return Err(HttpError::Unreachable(reason));
        };
        let mut request = Request::new(Full::new(body.clone()));
        *request.method_mut() = method.clone();
        *request.uri_mut() = uri.clone();
        *request.headers_mut() = headers.clone();
        if let Some(value) = &self.proxy_authorization {
            request
                .headers_mut()
                .insert(PROXY_AUTHORIZATION, value.clone());
        }
        Ok(request)
    }
}

/// The form of an address that requests have.
fn uri(url: &Url) -> Option<Uri> {
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    let mut bare = url.clone();
    bare.set_fragment(None);
    bare.set_username("").ok()?;
    bare.set_password(None).ok()?;
    bare.as_str().parse().ok()
}
