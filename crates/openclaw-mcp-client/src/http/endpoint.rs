//! One address with its fixed headers.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, PROXY_AUTHORIZATION};
use http::{HeaderMap, HeaderValue, Method, Request, Response, Uri};
use hyper::body::Incoming;
use openclaw_secrets::Secret;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::answer::{Answer, discard};
use super::clients::{HttpClient, SendError, send_plain};
use super::error::HttpError;
use super::failure::HttpFailure;
use super::headers::{HeaderError, fixed_headers};
use super::kept::KeptConnections;
use super::moved::{Lasting, Moved};
use super::redirect::{next_address, origin, without_secrets};
use super::request_body::RequestBody;
use super::tls::Versions;
use crate::authorize::{Authorizer, Bearer, NoBearer, Refusals, Verdict};
use crate::error::Unauthorized;
use crate::target::Authorization;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON_OR_EVENTS: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The longest deadline: one without end can't be added to the time of day.
const LONGEST: Duration = Duration::from_hours(24);

/// How often a request is sent again that the server says it did nothing with, as HTTP/2 can.
const MOST_REPEATS: usize = 2;

/// One address with the headers that go with every request to it.
#[derive(Clone)]
pub(crate) struct HttpEndpoint {
    client: HttpClient,
    headers: Arc<HeaderMap>,
    address: Arc<Address>,
    /// What has the tokens to show, where there are any.
    authorizer: Option<Arc<dyn Authorizer>>,
    /// Where messages are sent instead, because the server said so.
    moved: Arc<Moved<Address>>,
}

/// An address in the forms that are needed.
struct Address {
    url: Arc<Url>,
    /// As it stands in a request; none if it is not an HTTP address.
    uri: Option<Uri>,
    /// The connections to its host, if they are without TLS.
    plain: Option<Arc<KeptConnections>>,
    /// All headers of a POST without those of the single request.
    headers: HeaderMap,
    /// The same with those of the last request, which usually are those of the next one, too.
    last: Mutex<Option<(Arc<HeaderMap>, HeaderMap)>>,
    /// Whether the configuration names the host that requests are for.
    has_own_host: bool,
}

/// An answer and where it came from.
type Answered = (Response<Incoming>, Arc<Address>);
/// The same, and how long the redirects to there may be relied on, if there were any.
type Exchanged = (Response<Incoming>, Arc<Address>, Option<Lasting>);

impl HttpEndpoint {
    /// Makes an endpoint. An `Authorization` among the headers wins.
    pub(crate) fn new(
        client: HttpClient,
        url: Url,
        headers: &[(String, Secret)],
        authorization: &Authorization,
    ) -> Result<Self, HeaderError> {
        let (value, authorizer) = match authorization {
            Authorization::None => (None, None),
            Authorization::Fixed(value) => (Some(value), None),
            Authorization::Asked(authorizer) => (None, Some(authorizer)),
        };
        let fixed = fixed_headers(&url, headers, value)?;
        for name in &fixed.left_out {
            client.warn_of_header(name);
        }
        let address = Arc::new(Address::new(&client, url, &fixed.headers));
        Ok(Self {
            client,
            address,
            authorizer: authorizer
                .filter(|_| !fixed.headers.contains_key(AUTHORIZATION))
                .cloned(),
            headers: Arc::new(fixed.headers),
            moved: Arc::default(),
        })
    }

    /// The address.
    pub(crate) fn url(&self) -> &Url {
        &self.address.url
    }

    /// Whether every request carries credentials of the configuration.
    pub(crate) fn shows_credentials(&self) -> bool {
        self.headers.contains_key(AUTHORIZATION)
    }

    /// The same headers for another address, whose origin must be the same.
    pub(crate) fn at(&self, url: Url) -> Self {
        Self {
            client: self.client.clone(),
            headers: Arc::clone(&self.headers),
            address: Arc::new(Address::new(&self.client, url, &self.headers)),
            authorizer: self.authorizer.clone(),
            moved: Arc::default(),
        }
    }

    /// Sends a JSON text and waits for the head of the answer, redirects included. To read what
    /// explains a failure may take some seconds more.
    pub(crate) async fn post(
        &self,
        headers: impl Into<Arc<HeaderMap>>,
        body: Bytes,
        within: Duration,
    ) -> Result<Answer, HttpError> {
        self.post_by(&headers.into(), &body, Some(deadline(within)))
            .await
    }

    /// Sends a JSON text as `post` does, for callers that keep the headers and the time.
    pub(crate) async fn post_untimed(
        &self,
        headers: &Arc<HeaderMap>,
        body: &Bytes,
    ) -> Result<Answer, HttpError> {
        self.post_by(headers, body, None).await
    }

    async fn post_by(
        &self,
        headers: &Arc<HeaderMap>,
        body: &Bytes,
        deadline: Option<Instant>,
    ) -> Result<Answer, HttpError> {
        let moved = self.moved.get();
        let was_moved = moved.is_some();
        let start = moved.unwrap_or_else(|| Arc::clone(&self.address));
        match self
            .exchange(&Method::POST, start, headers, body, deadline)
            .await
        {
            Ok((response, address, lasting)) => {
                match lasting {
                    None => {}
                    // It is not where it was said to be for good: the next one asks again.
                    Some(_) if was_moved => self.moved.forget(),
                    Some(lasting) => self.moved.set(Arc::clone(&address), lasting),
                }
                Ok(Answer::read(response, Arc::clone(&address.url)).await)
            }
            Err(error) => {
                self.moved.forget();
                Err(error)
            }
        }
    }

    /// Asks for a stream of events and waits for the head of the answer.
    pub(crate) async fn get(
        &self,
        headers: impl Into<Arc<HeaderMap>>,
        within: Duration,
    ) -> Result<Answer, HttpError> {
        let (response, address) = self.simple(&Method::GET, &headers.into(), within).await?;
        Ok(Answer::read(response, Arc::clone(&address.url)).await)
    }

    /// Asks the server to delete what is at the address.
    pub(crate) async fn delete(
        &self,
        headers: impl Into<Arc<HeaderMap>>,
        within: Duration,
    ) -> Result<(), HttpError> {
        let (response, _) = self
            .simple(&Method::DELETE, &headers.into(), within)
            .await?;
        discard(response.into_body()).await;
        Ok(())
    }

    async fn simple(
        &self,
        method: &Method,
        headers: &Arc<HeaderMap>,
        within: Duration,
    ) -> Result<Answered, HttpError> {
        let (deadline, start) = (Some(deadline(within)), Arc::clone(&self.address));
        let nothing = Bytes::new();
        let exchange = self.exchange(method, start, headers, &nothing, deadline);
        let (response, address, _) = exchange.await?;
        Ok((response, address))
    }

    /// Sends a request as whoever we are to the server. What it did not take it did not process,
    /// so the request is sent again where there is something better to show.
    async fn exchange(
        &self,
        method: &Method,
        address: Arc<Address>,
        headers: &Arc<HeaderMap>,
        body: &Bytes,
        deadline: Option<Instant>,
    ) -> Result<Exchanged, HttpError> {
        let Some(authorizer) = &self.authorizer else {
            let exchange = self.exchange_as(None, method, address, headers, body, deadline);
            return exchange.await;
        };
        let mut refusals = Refusals::default();
        loop {
            let bearer = match authorizer.at_hand() {
                Some(bearer) => Some(bearer),
                None => match by(deadline, authorizer.obtain()).await? {
                    Ok(bearer) => bearer,
                    Err(nothing) => return Err(without(nothing, None)),
                },
            };
            let shown = bearer.as_ref();
            let sent = self.exchange_as(shown, method, address.clone(), headers, body, deadline);
            let failure = match Box::pin(sent).await {
                Err(HttpError::Status(failure)) if refusals.is_worth_asking(&failure) => failure,
                Err(HttpError::Status(failure)) if failure.status == 401 => {
                    let Some(shown) = shown else {
                        return Err(HttpError::Status(failure));
                    };
                    let reason = authorizer.in_vain(shown, &failure);
                    return Err(without(NoBearer::LogIn(reason), Some(failure)));
                }
                other => return other,
            };
            match by(deadline, authorizer.refused(shown, &failure)).await? {
                Verdict::Again => {}
                Verdict::Final => return Err(HttpError::Status(failure)),
                Verdict::Without(nothing) => return Err(without(nothing, Some(failure))),
            }
        }
    }

    /// Sends a request, follows redirects, and returns the answer if it is one of success; also
    /// how long the redirects may be relied on, if there were any.
    async fn exchange_as(
        &self,
        bearer: Option<&Bearer>,
        method: &Method,
        mut address: Arc<Address>,
        headers: &Arc<HeaderMap>,
        body: &Bytes,
        deadline: Option<Instant>,
    ) -> Result<Exchanged, HttpError> {
        let (mut followed, mut repeated) = (0, 0);
        let mut lasting: Option<Lasting> = None;
        let mut versions = address.versions(method);
        loop {
            let mut request = address.request(method, headers, body)?;
            // Redirects that are followed stay on the same server.
            let bearer = bearer.map(|bearer| (AUTHORIZATION, bearer.header().clone()));
            request.headers_mut().extend(bearer);
            let sent = match &address.plain {
                Some(kept) => {
                    let sent = send_plain(kept, request, &address.url, deadline).await;
                    sent.map_err(SendError::Final)
                }
                None => {
                    let sent = self.client.send(request, &address.url, versions, deadline);
                    sent.await
                }
            };
            let response = match sent {
                Ok(response) => response,
                Err(SendError::Unprocessed(_)) if repeated < MOST_REPEATS => {
                    repeated += 1;
                    continue;
                }
                // It has nothing but HTTP/2 to offer, which is better than nothing.
                Err(SendError::OtherVersion(_)) if versions == Versions::First => {
                    versions = Versions::All;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let status = response.status();
            if status.is_success() {
                return Ok((response, address, lasting));
            }
            match next_address(&address.url, status, response.headers(), followed)? {
                Some(next) => {
                    tracing::debug!(to = %origin(&next), %status, "following a redirect");
                    discard(response.into_body()).await;
                    let so_far = lasting.unwrap_or(Lasting::Forever);
                    lasting = Some(so_far.min(Lasting::of(status, &address.url, &next)));
                    address = Arc::new(Address::new(&self.client, next, &self.headers));
                    versions = address.versions(method);
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

/// Waits for something until a moment, if there is one.
async fn by<T>(deadline: Option<Instant>, work: impl Future<Output = T>) -> Result<T, HttpError> {
    match deadline {
        None => Ok(work.await),
        Some(deadline) => {
            let done = timeout_at(deadline, work).await;
            done.map_err(|_| HttpError::TimedOut { connected: false })
        }
    }
}

/// What it means that there is nothing to show to the server.
fn without(nothing: NoBearer, failure: Option<Box<HttpFailure>>) -> HttpError {
    match nothing {
        NoBearer::LogIn(reason) => HttpError::Unauthorized(Unauthorized { reason, failure }),
        NoBearer::Later(reason) => HttpError::NoToken(reason),
    }
}

fn deadline(within: Duration) -> Instant {
    Instant::now() + within.min(LONGEST)
}

impl fmt::Debug for HttpEndpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "HttpEndpoint({})", without_secrets(self.url()))
    }
}

impl Address {
    fn new(client: &HttpClient, url: Url, fixed: &HeaderMap) -> Self {
        let uri = uri(&url);
        let mut headers = HeaderMap::with_capacity(fixed.len() + 4);
        let plain = uri.as_ref().and_then(|uri| client.plain(uri));
        let read = uri.as_ref().filter(|_| plain.is_some());
        // It belongs to HTTP/1, which is all that there is without TLS; with TLS it is added once
        // it is known what the server speaks.
        headers.extend(read.and_then(host).map(|host| (HOST, host)));
        for (name, value) in fixed {
            headers.insert(name, value.clone());
        }
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(ACCEPT, JSON_OR_EVENTS);
        // What a proxy on the way wants to see, if it reads the request itself.
        let authorization = read.and_then(|uri| client.proxy_authorization(uri));
        headers.extend(authorization.map(|value| (PROXY_AUTHORIZATION, value)));
        // A pool needs the whole address, and so does a proxy that reads it; a server does not.
        let uri = uri.map(|uri| match uri.path_and_query() {
            Some(path) if plain.is_some() && !client.is_read_by_proxy(&uri) => {
                Uri::from(path.clone())
            }
            _ => uri,
        });
        Self {
            url: Arc::new(url),
            uri,
            plain,
            headers,
            last: Mutex::default(),
            has_own_host: fixed.contains_key(HOST),
        }
    }

    /// The versions of HTTP that a request may be sent in.
    ///
    /// A stream of events takes one of the places of an HTTP/2 connection for as long as it lasts,
    /// and servers may have few, down to a single one: then no request would ever be sent beside
    /// it. And HTTP/2 has no `Host` that could differ from the address.
    fn versions(&self, method: &Method) -> Versions {
        let is_secure = self.url.scheme() == "https";
        if is_secure && (*method == Method::GET || self.has_own_host) {
            Versions::First
        } else {
            Versions::All
        }
    }

    fn request(
        &self,
        method: &Method,
        headers: &Arc<HeaderMap>,
        body: &Bytes,
    ) -> Result<Request<RequestBody>, HttpError> {
        let Some(uri) = &self.uri else {
            let scheme = self.url.scheme();
            let reason = format!("cannot send to an address that begins with `{scheme}:`");
            return Err(HttpError::Unreachable(reason));
        };
        let mut request = Request::new(RequestBody::new(body.clone()));
        *request.method_mut() = method.clone();
        *request.uri_mut() = uri.clone();
        let mut all = self.with_headers(headers);
        if *method != Method::POST {
            all.remove(CONTENT_TYPE);
        }
        if *method == Method::GET {
            all.insert(ACCEPT, EVENTS);
        }
        *request.headers_mut() = all;
        Ok(request)
    }
}

impl Address {
    /// All headers of a POST. Those of the request win: they are the transport's.
    fn with_headers(&self, headers: &Arc<HeaderMap>) -> HeaderMap {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, all)) = last.as_ref()
            && Arc::ptr_eq(of, headers)
        {
            return all.clone();
        }
        let mut all = self.headers.clone();
        for name in headers.keys() {
            all.remove(name);
        }
        for (name, value) in headers.iter() {
            all.append(name, value.clone());
        }
        *last = Some((Arc::clone(headers), all.clone()));
        all
    }
}

/// An address without user, password and fragment.
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

/// What `Host` says. (An address leaves out the port that its scheme has anyway.)
fn host(uri: &Uri) -> Option<HeaderValue> {
    HeaderValue::from_str(uri.authority()?.as_str()).ok()
}
