//! One request and its answer.

use std::error::Error;
use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use reqwest::{Certificate, Client, ClientBuilder, Identity};
use thiserror::Error as ThisError;
use url::{Host, Url};

use crate::gathered::Gathered;

/// How large an answer may be. Secrets are far smaller; a document that one is a field of may be
/// larger than the secret.
const LARGEST_ANSWER: usize = 2 * 1024 * 1024;
/// How long a store may take to take a connection.
const CONNECTING: Duration = Duration::from_secs(5);

/// Sends requests to a store.
#[derive(Default)]
pub(crate) struct Http {
    trust: Trust,
    /// For addresses out there, which a proxy may lead to.
    far: OnceLock<Client>,
    /// For this machine and its metadata service, which no proxy leads to.
    near: OnceLock<Client>,
    /// For the same without TLS: a machine without authorities, as a small container is, can do
    /// that too.
    plain: OnceLock<Client>,
}

/// How the store proves who it is, beside the usual way, and how we do.
#[derive(Default)]
pub(crate) struct Trust {
    /// More authorities to trust.
    pub(crate) authorities: Vec<Certificate>,
    /// Our own certificate.
    pub(crate) identity: Option<Identity>,
}

/// Why there is no answer.
#[derive(Debug, ThisError)]
pub(crate) enum HttpError {
    #[error("`http://` is only for this machine: everybody between could read the secret")]
    Readable,
    #[error("the answer has more than {LARGEST_ANSWER} bytes")]
    TooLarge,
    #[error("the request can't be made: {0}")]
    Unmakeable(String),
    #[error("the connection can't be secured: {0}")]
    Insecure(String),
    #[error("{0}")]
    Unreachable(String),
}

impl HttpError {
    /// Whether it may be different the next time.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable(_))
    }
}

impl Http {
    /// A client that trusts more than the usual authorities.
    pub(crate) fn trusting(trust: Trust) -> Self {
        Self {
            trust,
            ..Self::default()
        }
    }

    /// Sends a request and takes the whole answer, whatever its status. Redirects are not followed:
    /// they would lead our credentials away.
    ///
    /// The body is overwritten when the last handle to it is dropped; what the connection had of it
    /// in its own buffers is not.
    pub(crate) async fn send(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, HttpError> {
        let unmakeable = |error: &(dyn Error + 'static)| HttpError::Unmakeable(innermost(error));
        let request = reqwest::Request::try_from(request).map_err(|error| unmakeable(&error))?;
        let is_near = is_near(request.url());
        if request.url().scheme() != "https" && !is_near {
            return Err(HttpError::Readable);
        }
        let is_plain = request.url().scheme() == "http";
        let client = self.client(is_near, is_plain);
        let client = client.map_err(|error| unmakeable(&error))?;
        let mut answer = client.execute(request).await.map_err(unreachable)?;
        let mut kept = http::Response::builder().status(answer.status());
        if let Some(headers) = kept.headers_mut() {
            *headers = answer.headers().clone();
        }
        let mut body = Gathered::at_most(LARGEST_ANSWER);
        while let Some(part) = answer.chunk().await.map_err(unreachable)? {
            body.add(&part).map_err(|_| HttpError::TooLarge)?;
        }
        let body = Bytes::from_owner(body.into_bytes());
        kept.body(body).map_err(|error| unmakeable(&error))
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
            builder = builder.tls_certs_merge(self.trust.authorities.iter().cloned());
        }
        if let Some(identity) = &self.trust.identity {
            builder = builder.identity(identity.clone());
        }
        use_ring();
        let client = builder.build()?;
        Ok(place.get_or_init(|| client))
    }
}

/// Makes ring the provider of cryptography, where nobody has done so before.
fn use_ring() {
    // An error means that there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Whether an address is of this machine, or of the metadata service that a cloud gives to it.
pub(crate) fn is_near(url: &Url) -> bool {
    is_this_machine(url)
        || match url.host() {
            Some(Host::Ipv4(address)) => address.is_link_local(),
            Some(Host::Ipv6(address)) => {
                address.is_unicast_link_local()
                    // AWS: the metadata service, and what gives pods their credentials.
                    || matches!(
                        address.segments(),
                        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254 | 0x23]
                    )
            }
            Some(Host::Domain(name)) => name.trim_end_matches('.') == "metadata.google.internal",
            None => false,
        }
}

/// Whether an address is of this machine.
pub(crate) fn is_this_machine(url: &Url) -> bool {
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
    let reason = innermost(&error);
    if is_about_tls(&error) {
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

/// Whether one of those who talk does not trust the other: that does not pass.
fn is_about_tls(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<rustls::Error>() {
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
