//! Which proxy an address is reached through.

mod tunnel;

use std::fmt;
use std::net::IpAddr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::uri::Authority;
use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::Matcher;
use openclaw_secrets::Secret;
use percent_encoding::percent_decode_str;
use thiserror::Error;
use url::Url;

pub(super) use self::tunnel::{TunnelError, tunnel};

/// Where a SOCKS proxy listens if nothing else is said.
const SOCKS_PORT: u16 = 1080;

/// The proxies that the environment names.
#[derive(Debug)]
pub(super) struct Proxies {
    http: Option<Named>,
    https: Option<Named>,
    all: Option<Named>,
    /// Decides which addresses are reached without one.
    rules: Matcher,
}

/// What a variable says.
type Named = Result<Proxy, UnreadableProxy>;

/// A proxy.
pub(super) struct Proxy {
    pub(super) kind: ProxyKind,
    /// Its host and port.
    pub(super) authority: Authority,
    /// Who we are.
    pub(super) user: Option<ProxyUser>,
}

/// What a proxy speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProxyKind {
    Http,
    /// HTTP over TLS.
    Https,
    Socks5 {
        /// Whether names are looked up here rather than by the proxy.
        looks_up_here: bool,
    },
    /// Another version of SOCKS, by its scheme.
    OtherSocks(String),
}

/// Who we are to a proxy.
pub(super) struct ProxyUser {
    pub(super) name: String,
    pub(super) password: Secret,
    /// Both as the value of a header.
    pub(super) basic: HeaderValue,
}

/// A proxy that was named in a way that can't be understood. What would have to go through it
/// does not go at all: that somebody wants a proxy may be for a reason.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the address of the proxy in `{variable}` cannot be understood")]
pub(super) struct UnreadableProxy {
    variable: String,
}

impl Proxies {
    /// Reads the usual variables, in both spellings.
    pub(super) fn new(variable: impl Fn(&str) -> Option<String>) -> Self {
        // An empty one says nothing, and is no reason to ignore the other spelling.
        let either = |name: &str| {
            [name.to_owned(), name.to_ascii_lowercase()]
                .into_iter()
                .filter_map(|name| Some((variable(&name)?.trim().to_owned(), name)))
                .find(|(value, _)| !value.is_empty())
        };
        let proxy = |name: &str| {
            let (value, variable) = either(name)?;
            let proxy = Proxy::parse(&value);
            if proxy.is_none() {
                tracing::warn!(%variable, "the address of a proxy cannot be understood");
            }
            Some(proxy.ok_or(UnreadableProxy { variable }))
        };
        let exceptions = either("NO_PROXY").map(|(value, _)| value);
        Self {
            http: proxy("HTTP_PROXY"),
            https: proxy("HTTPS_PROXY"),
            all: proxy("ALL_PROXY"),
            // Which proxy it is does not matter, only whether there is one.
            rules: Matcher::builder()
                .all("http://proxy.invalid")
                .no(exceptions.unwrap_or_default())
                .build(),
        }
    }

    /// The proxy for an address, if there is one. This machine is never reached through one, even
    /// if `NO_PROXY` forgets to say so: what runs here can't be reached from there.
    pub(super) fn for_address(&self, uri: &Uri) -> Result<Option<&Proxy>, UnreadableProxy> {
        let own = match uri.scheme_str() {
            Some("http") => &self.http,
            Some("https") => &self.https,
            _ => &None,
        };
        match own.as_ref().or(self.all.as_ref()) {
            None => Ok(None),
            Some(_) if uri.host().is_some_and(is_this_machine) => Ok(None),
            Some(_) if self.rules.intercept(uri).is_none() => Ok(None),
            Some(Ok(proxy)) => Ok(Some(proxy)),
            Some(Err(unreadable)) => Err(unreadable.clone()),
        }
    }

    /// What a proxy wants to see in a request that it reads itself. (One that only passes on what
    /// it can't read sees this when the tunnel is made.)
    pub(super) fn request_authorization(&self, uri: &Uri) -> Option<HeaderValue> {
        let proxy = self.for_address(uri).ok().flatten()?;
        proxy.reads(uri).then(|| proxy.basic().cloned()).flatten()
    }
}

impl Proxy {
    /// Reads an address, which may lack its scheme.
    fn parse(value: &str) -> Option<Self> {
        let url = if value.contains("://") {
            Url::parse(value).ok()?
        } else {
            Url::parse(&format!("http://{value}")).ok()?
        };
        // A password with one of `/?#` in it, which should have been encoded: what seems to be the
        // host is the user.
        let rest = [Some(url.path()), url.query(), url.fragment()];
        if rest.into_iter().flatten().any(|part| part.contains('@')) {
            return None;
        }
        let (kind, port) = match url.scheme() {
            "http" => (ProxyKind::Http, 80),
            "https" => (ProxyKind::Https, 443),
            "socks5" | "socks5h" => {
                // As in curl: with `socks5h` the proxy looks up the name.
                let looks_up_here = url.scheme() == "socks5";
                (ProxyKind::Socks5 { looks_up_here }, SOCKS_PORT)
            }
            scheme if scheme.starts_with("socks") => {
                (ProxyKind::OtherSocks(scheme.to_owned()), SOCKS_PORT)
            }
            _ => return None,
        };
        let host = url.host_str().filter(|host| !host.is_empty())?;
        let port = url.port().unwrap_or(port);
        let has_user = !url.username().is_empty() || url.password().is_some();
        let user = if has_user {
            Some(ProxyUser::of(&url)?)
        } else {
            None
        };
        Some(Self {
            kind,
            authority: format!("{host}:{port}").parse().ok()?,
            user,
        })
    }

    /// Whether requests to an address are read by the proxy, which passes them on by itself.
    pub(super) fn reads(&self, uri: &Uri) -> bool {
        let speaks_http = matches!(self.kind, ProxyKind::Http | ProxyKind::Https);
        speaks_http && uri.scheme_str() == Some("http")
    }

    /// Who we are, as the value of a header.
    pub(super) fn basic(&self) -> Option<&HeaderValue> {
        self.user.as_ref().map(|user| &user.basic)
    }
}

impl ProxyUser {
    /// Reads the user of an address.
    fn of(url: &Url) -> Option<Self> {
        let decoded = |text| percent_decode_str(text).decode_utf8().ok();
        let name = decoded(url.username())?.into_owned();
        let password = decoded(url.password().unwrap_or_default())?;
        let pair = BASE64_STANDARD.encode(format!("{name}:{password}"));
        let mut basic = HeaderValue::from_str(&format!("Basic {pair}")).ok()?;
        basic.set_sensitive(true);
        Some(Self {
            name,
            password: Secret::new(password.into_owned()),
            basic,
        })
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Proxy({:?}, {})", self.kind, self.authority)
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
mod tests;
