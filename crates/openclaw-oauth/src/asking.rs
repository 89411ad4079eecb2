//! Asking authorization servers: where, with whose trust, how long.

mod form;
mod refusal;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, LOCATION};
use http::{Request, Response};
use openclaw_http::{Certificate, Http, HttpError, HttpSettings, Identity, Trust, is_this_machine};
use openclaw_state::read_bounded;
use secrecy::zeroize::Zeroizing;
use serde_json::Value as Json;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use url::{Host, Origin, Url};

use crate::addresses::{Allowed, Place};
use crate::error::{OAuthError, quoted};
use crate::resource::Resource;

pub(crate) use form::Form;
pub(crate) use refusal::{Refusal, is_form, is_passing};

/// How long one question and its answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long it may take to be given tokens. Whoever gives up has lost a refresh token that the
/// authorization server has replaced meanwhile.
pub(crate) const TOKEN_PATIENCE: Duration = Duration::from_secs(30);
/// How long it may take to look a name up.
const LOOKING_UP: Duration = Duration::from_secs(5);
/// How large an answer may be.
const LARGEST_ANSWER: usize = 1024 * 1024;
/// How large a file with authorities may be.
const LARGEST_AUTHORITIES: u64 = 1024 * 1024;
/// How often a question may be led on.
const MOST_REDIRECTS: usize = 5;
/// The protocol whose rules of finding out are followed.
const PROTOCOL_VERSION: &str = "2025-11-25";
const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// Asks authorization servers for one resource.
pub(crate) struct Asking {
    /// Where the resource itself is.
    origin: Origin,
    /// Whether that is on this machine.
    is_here: bool,
    /// Asks there. Whoever wrote the address of the server into the configuration has decided that
    /// it may be asked, wherever it leads.
    own: Http,
    /// Asks everybody else, once it is known where the resource is.
    others: OnceCell<Others>,
    authorities: Vec<Certificate>,
    /// What the configuration names: whoever is there may lead there.
    named: Vec<Url>,
}

/// Who asks everybody else.
struct Others {
    http: Http,
    /// Whether all that the configuration names could be looked up.
    is_certain: bool,
}

impl Asking {
    /// Asks for a resource. Reads the file with authorities, where there is one.
    pub(crate) fn new(resource: &Resource) -> Result<Self, OAuthError> {
        let authorities = authorities(resource)?;
        let own = Http::new(HttpSettings {
            trust: Trust {
                verify: resource.verify,
                authorities: authorities.clone(),
                identity: identity(resource)?,
            },
            largest_answer: LARGEST_ANSWER,
            is_near: is_this_machine,
            addresses: None,
        });
        let named = [Some(&resource.url), resource.authorization_server.as_ref()];
        Ok(Self {
            origin: resource.url.origin(),
            // Whoever names somebody on this machine in the configuration means it.
            is_here: named.into_iter().flatten().any(is_this_machine),
            own,
            others: OnceCell::new(),
            authorities,
            named: named.into_iter().flatten().cloned().collect(),
        })
    }

    /// Whether an address may be asked, or given to a browser, as far as can be seen from it.
    pub(crate) fn check(&self, url: &Url) -> Result<(), OAuthError> {
        let reason = if !url.username().is_empty() || url.password().is_some() {
            "it has a password in it"
        } else if is_this_machine(url) && !self.is_here {
            "it is on this machine, and the server is not"
        } else if url.scheme() != "https" && !(url.scheme() == "http" && is_this_machine(url)) {
            "only `https://` is"
        } else if url.origin() != self.origin && leads_nowhere(url) {
            "it is not on a public network, nor on any other where tokens are granted"
        } else {
            return Ok(());
        };
        let url = shown(url);
        Err(OAuthError::lasting(format!("{url} is not asked: {reason}")))
    }

    /// Gets a document. Redirects are followed at the same origin only: whom a document is from is
    /// what makes it worth something.
    pub(crate) async fn get(&self, url: &Url) -> Result<Response<Bytes>, OAuthError> {
        let mut place = url.clone();
        for _ in 0..=MOST_REDIRECTS {
            let request = Request::get(place.as_str())
                .header(ACCEPT, JSON)
                .header("mcp-protocol-version", PROTOCOL_VERSION);
            let answer = self.send(&place, request, Bytes::new(), PATIENCE).await?;
            // 304 is a redirection by its number only.
            let location = answer.headers().get(LOCATION);
            let (true, Some(location)) = (answer.status().is_redirection(), location) else {
                return Ok(answer);
            };
            let next = location.to_str().ok();
            let next = next.and_then(|location| place.join(location).ok());
            match next {
                Some(next) if next.origin() == place.origin() => place = next,
                _ => {
                    let url = shown(url);
                    return Err(OAuthError::lasting(format!(
                        "{url} leads to another server, and that is not followed"
                    )));
                }
            }
        }
        let url = shown(url);
        Err(OAuthError::lasting(format!(
            "{url} leads on and on, more than {MOST_REDIRECTS} times"
        )))
    }

    /// Posts a form, and follows nobody with it.
    pub(crate) async fn post_form(
        &self,
        url: &Url,
        form: &Form,
    ) -> Result<Response<Bytes>, OAuthError> {
        let mut request = Request::post(url.as_str())
            .header(ACCEPT, JSON)
            .header(CONTENT_TYPE, FORM);
        if let Some(header) = form.authorization() {
            request = request.header(AUTHORIZATION, header);
        }
        self.send(url, request, form.body(), TOKEN_PATIENCE).await
    }

    /// Posts a document, and follows nobody with it.
    pub(crate) async fn post_json(
        &self,
        url: &Url,
        document: &Json,
    ) -> Result<Response<Bytes>, OAuthError> {
        let request = Request::post(url.as_str())
            .header(ACCEPT, JSON)
            .header(CONTENT_TYPE, JSON);
        self.send(url, request, document.to_string().into(), PATIENCE)
            .await
    }

    async fn send(
        &self,
        url: &Url,
        request: http::request::Builder,
        body: Bytes,
        patience: Duration,
    ) -> Result<Response<Bytes>, OAuthError> {
        self.check(url)?;
        let request = request.body(body).map_err(|error| {
            let url = shown(url);
            OAuthError::lasting(format!("{url} can't be asked: {error}"))
        })?;
        // Looking up where the server is has a limit of its own.
        let (http, is_certain) = if url.origin() == self.origin {
            (&self.own, true)
        } else {
            let others = self.others.get_or_init(|| self.others()).await;
            (&others.http, others.is_certain)
        };
        match timeout(patience, http.send(request)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(unanswered(url, &error, is_certain)),
            Err(_) => {
                let (url, seconds) = (shown(url), patience.as_secs());
                Err(OAuthError::passing(format!(
                    "{url} does not answer within {seconds} seconds"
                )))
            }
        }
    }

    /// Where others may be, and whether that is certain.
    async fn allowed(&self) -> (Allowed, bool) {
        let mut allowed = Allowed {
            this_machine: self.is_here,
            internal: false,
        };
        let mut is_certain = true;
        for addresses in join_all(self.named.iter().map(looked_up)).await {
            match addresses {
                Some(addresses) => allowed.internal_like(&addresses),
                None => is_certain = false,
            }
        }
        (allowed, is_certain)
    }

    async fn others(&self) -> Others {
        let (allowed, is_certain) = self.allowed().await;
        let http = Http::new(HttpSettings {
            trust: Trust {
                authorities: self.authorities.clone(),
                ..Trust::default()
            },
            largest_answer: LARGEST_ANSWER,
            is_near: is_this_machine,
            addresses: Some(Arc::new(allowed)),
        });
        Others { http, is_certain }
    }
}

/// The authorities that the configuration adds.
fn authorities(resource: &Resource) -> Result<Vec<Certificate>, OAuthError> {
    let Some(path) = &resource.authorities else {
        return Ok(Vec::new());
    };
    let pem = read_bounded(path, LARGEST_AUTHORITIES).map_err(OAuthError::lasting)?;
    let found = Certificate::from_pem_bundle(&pem).unwrap_or_default();
    if found.is_empty() {
        let path = quoted(&path.display().to_string());
        let reason = format!("{path} has no certificate in PEM");
        return Err(OAuthError::lasting(reason));
    }
    Ok(found)
}

/// Our own certificate, where the configuration has one.
fn identity(resource: &Resource) -> Result<Option<Identity>, OAuthError> {
    let Some(own) = &resource.identity else {
        return Ok(None);
    };
    let mut pem = Zeroizing::new(Vec::new());
    for path in std::iter::once(&own.certificate).chain(&own.key) {
        let part = read_bounded(path, LARGEST_AUTHORITIES).map_err(OAuthError::lasting)?;
        pem.extend_from_slice(&Zeroizing::new(part));
        pem.push(b'\n');
    }
    let identity = Identity::from_pem(&pem).map_err(|_| {
        let path = quoted(&own.certificate.display().to_string());
        OAuthError::lasting(format!("{path} has no certificate with its key in PEM"))
    })?;
    Ok(Some(identity))
}

/// Whether an address is a number that no authorization server has. A name is looked up only when it
/// is asked.
fn leads_nowhere(url: &Url) -> bool {
    let address: Option<IpAddr> = match url.host() {
        Some(Host::Ipv4(address)) => Some(address.into()),
        Some(Host::Ipv6(address)) => Some(address.into()),
        Some(Host::Domain(_)) | None => None,
    };
    address.is_some_and(|address| Place::of(address) == Place::Nowhere)
}

/// The addresses of a host, where they are known here: behind a proxy they need not be.
async fn looked_up(url: &Url) -> Option<Vec<IpAddr>> {
    match url.host()? {
        Host::Ipv4(address) => Some(vec![address.into()]),
        Host::Ipv6(address) => Some(vec![address.into()]),
        Host::Domain(name) => {
            let found = timeout(LOOKING_UP, tokio::net::lookup_host((name, 0))).await;
            let found = found.ok()?.ok()?;
            Some(found.map(|address| address.ip()).collect())
        }
    }
}

/// What it means that there is no answer.
fn unanswered(url: &Url, error: &HttpError, is_certain: bool) -> OAuthError {
    let (url, reason) = (shown(url), quoted(&error.to_string()));
    match error {
        HttpError::Unreachable(_) => {
            OAuthError::passing(format!("{url} can't be reached: {reason}"))
        }
        HttpError::Forbidden if !is_certain => OAuthError::passing(format!(
            "{url} is not asked: it is not on a public network, and where the server itself is \
             can't be looked up"
        )),
        HttpError::Forbidden => OAuthError::lasting(format!(
            "{url} is not asked: it is not on a public network, and the server itself is not on \
             that network"
        ))
        .hint("if it is right, name it as `auth.authorizationServerUrl`"),
        HttpError::Readable
        | HttpError::TooLarge(_)
        | HttpError::Unmakeable(_)
        | HttpError::Insecure(_) => OAuthError::lasting(format!("{url} can't be asked: {reason}")),
    }
}

/// An address as it may stand in a message: what is behind `?` may be nobody's business.
pub(crate) fn shown(url: &Url) -> String {
    let origin = url.origin().ascii_serialization();
    if origin == "null" {
        return quoted(&format!("{}:", url.scheme()));
    }
    quoted(&format!("{origin}{}", url.path()))
}

#[cfg(test)]
mod tests;
