//! One request and its answer.

use std::error::Error;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use openclaw_secrets::Gathered;
use reqwest::{Certificate, Client, ClientBuilder, Identity};
use thiserror::Error as ThisError;
use url::{Host, Url};

use crate::addresses::{AddressRule, Forbidden, RuledResolver, allows_literal, proxies};
use crate::outgoing::Outgoing;

/// How long a service may take to take a connection.
const CONNECTING: Duration = Duration::from_secs(5);

/// Sends requests to a service.
pub struct Http {
    settings: HttpSettings,
    /// For addresses out there, which a proxy may lead to.
    far: OnceLock<Client>,
    /// For those nearby, which no proxy leads to.
    near: OnceLock<Client>,
    /// For the same without TLS: a machine without authorities, as a small container is, can do
    /// that too.
    plain: OnceLock<Client>,
}

/// How a service is asked.
pub struct HttpSettings {
    /// How both sides prove who they are.
    pub trust: Trust,
    /// How large an answer may be.
    pub largest_answer: usize,
    /// Which addresses are so near that nobody stands between: they may be asked without TLS, and
    /// no proxy leads to them.
    pub is_near: fn(&Url) -> bool,
    /// Which addresses may be asked at all; every one where there is no rule. What a proxy leads to
    /// is looked up by the proxy.
    pub addresses: Option<Arc<dyn AddressRule>>,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            trust: Trust::default(),
            largest_answer: 2 * 1024 * 1024,
            is_near: is_this_machine,
            addresses: None,
        }
    }
}

/// How the service proves who it is, beside the usual way, and how we do.
pub struct Trust {
    /// Whether the certificate of the service is checked.
    pub verify: bool,
    /// More authorities to trust.
    pub authorities: Vec<Certificate>,
    /// Our own certificate.
    pub identity: Option<Identity>,
}

impl Default for Trust {
    fn default() -> Self {
        Self {
            verify: true,
            authorities: Vec::new(),
            identity: None,
        }
    }
}

/// Why there is no answer.
#[derive(Debug, ThisError)]
pub enum HttpError {
    /// Everybody between could read what is sent.
    #[error("`http://` is only for this machine: everybody between could read the secret")]
    Readable,
    /// The address may not be asked.
    #[error("its address is not one that may be asked")]
    Forbidden,
    /// The answer is too large.
    #[error("the answer has more than {0} bytes")]
    TooLarge(usize),
    /// The request can't be made.
    #[error("the request can't be made: {0}")]
    Unmakeable(String),
    /// One of those who talk does not trust the other.
    #[error("the connection can't be secured: {0}")]
    Insecure(String),
    /// There is no answer, this time.
    #[error("{0}")]
    Unreachable(String),
}

impl HttpError {
    /// Whether it may be different the next time.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable(_))
    }
}

impl Http {
    /// A client with these settings.
    pub fn new(settings: HttpSettings) -> Self {
        Self {
            settings,
            far: OnceLock::new(),
            near: OnceLock::new(),
            plain: OnceLock::new(),
        }
    }

    /// Sends a request and takes the whole answer, whatever its status. Redirects are not followed:
    /// they would lead our credentials away.
    ///
    /// The body is overwritten when the last handle to it is dropped; what the connection had of it
    /// in its own buffers is not.
    pub async fn send(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, HttpError> {
        let request = request.map(Outgoing::from);
        let (head, mut rest) = self.open(request).await?.into_parts();
        let mut body = Gathered::at_most(self.settings.largest_answer);
        while let Some(part) = rest.next().await? {
            body.add(&part)
                .map_err(|_| HttpError::TooLarge(self.settings.largest_answer))?;
        }
        let body = Bytes::from_owner(body.into_bytes());
        Ok(http::Response::from_parts(head, body))
    }

    /// Sends a request, and hands over the answer as soon as it begins, whatever its status. As for
    /// [`Http::send`], redirects are not followed, and nothing keeps the body when it is done.
    pub async fn open(
        &self,
        request: http::Request<Outgoing>,
    ) -> Result<http::Response<Arriving>, HttpError> {
        let unmakeable = |error: &(dyn Error + 'static)| HttpError::Unmakeable(innermost(error));
        let request = request.map(Outgoing::into_body);
        let request = reqwest::Request::try_from(request).map_err(|error| unmakeable(&error))?;
        let is_near = (self.settings.is_near)(request.url());
        if request.url().scheme() != "https" && !is_near {
            return Err(HttpError::Readable);
        }
        if let Some(rule) = &self.settings.addresses
            && !allows_literal(&**rule, request.url())
        {
            return Err(HttpError::Forbidden);
        }
        let is_plain = request.url().scheme() == "http";
        let client = self.client(is_near, is_plain);
        let client = client.map_err(|error| unmakeable(&error))?;
        let answer = client.execute(request).await.map_err(unreachable)?;
        let mut head = http::Response::builder().status(answer.status());
        if let Some(headers) = head.headers_mut() {
            *headers = answer.headers().clone();
        }
        let body = Arriving {
            answer,
            left: self.settings.largest_answer,
            limit: self.settings.largest_answer,
        };
        head.body(body).map_err(|error| unmakeable(&error))
    }

    fn client(&self, is_near: bool, is_plain: bool) -> Result<&Client, reqwest::Error> {
        let place = match (is_near, is_plain) {
            (true, true) => &self.plain,
            (true, false) => &self.near,
            (false, _) => &self.far,
        };
        if let Some(client) = place.get() {
            return Ok(client);
        }
        let mut builder = ClientBuilder::new()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECTING)
            .user_agent(concat!("openclaw/", env!("CARGO_PKG_VERSION")));
        if is_near {
            builder = builder.no_proxy();
        }
        if is_plain {
            builder = builder.tls_certs_only([]);
        } else {
            let trust = &self.settings.trust;
            builder = builder
                .tls_certs_merge(trust.authorities.iter().cloned())
                .tls_danger_accept_invalid_certs(!trust.verify);
            if let Some(identity) = &trust.identity {
                builder = builder.identity(identity.clone());
            }
        }
        if let Some(rule) = &self.settings.addresses {
            let rule = Arc::clone(rule);
            let proxies = if is_near {
                Vec::new()
            } else {
                // As reqwest itself reads them.
                proxies(|name| std::env::var(name).ok())
            };
            builder = builder.dns_resolver(RuledResolver { rule, proxies });
        }
        use_ring();
        let client = builder.build()?;
        Ok(place.get_or_init(|| client))
    }
}

/// The body of an answer that is still arriving.
pub struct Arriving {
    answer: reqwest::Response,
    left: usize,
    limit: usize,
}

impl Arriving {
    /// Waits for more of it; there is nothing when it has ended as it should.
    pub async fn next(&mut self) -> Result<Option<Bytes>, HttpError> {
        let part = self.answer.chunk().await.map_err(unreachable)?;
        let length = part.as_ref().map_or(0, Bytes::len);
        let left = self.left.checked_sub(length);
        self.left = left.ok_or(HttpError::TooLarge(self.limit))?;
        Ok(part)
    }
}

/// Makes ring the provider of cryptography, where nobody has done so before.
fn use_ring() {
    // An error means that there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Whether an address is of this machine.
pub fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => {
            let embedded = address.to_ipv4_mapped();
            address.is_loopback() || embedded.is_some_and(|address| address.is_loopback())
        }
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        None => false,
    }
}

/// Says why there is no answer, without the address: it may be long, and the caller knows it.
fn unreachable(error: reqwest::Error) -> HttpError {
    let error = error.without_url();
    if is::<Forbidden>(&error) {
        return HttpError::Forbidden;
    }
    let reason = innermost(&error);
    if is::<rustls::Error>(&error) {
        HttpError::Insecure(reason)
    } else {
        HttpError::Unreachable(reason)
    }
}

/// The reason of an error that wraps it in other words.
fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    innermost.to_string()
}

/// Whether an error is, or was caused by, one of a kind.
fn is<E: Error + 'static>(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<E>() {
            return true;
        }
        next = match error.downcast_ref::<io::Error>().map(io::Error::get_ref) {
            // What an error of input and output wraps is not its source.
            Some(Some(wrapped)) => Some(wrapped),
            _ => error.source(),
        };
    }
    false
}

#[cfg(test)]
mod tests;
