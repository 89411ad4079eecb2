//! Which addresses a connection may be made to.

use std::error::Error;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// Says which addresses a connection may be made to.
///
/// It is asked for addresses, never for names: what a name stands for is only known when it is
/// looked up, and may be something else the next time.
pub trait AddressRule: Send + Sync {
    /// Whether a connection may be made.
    fn allows(&self, address: IpAddr) -> bool;
}

/// All addresses of a name are forbidden.
#[derive(Debug)]
pub(crate) struct Forbidden;

impl fmt::Display for Forbidden {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("its address is not one that may be asked")
    }
}

impl Error for Forbidden {}

/// The variables that name proxies.
const PROXIES: [&str; 6] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
];

/// The names of the proxies that lead away from here. The user has named them, so they may be
/// anywhere; what they lead to they look up themselves.
pub(crate) fn proxies(variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let hosts = PROXIES.iter().filter_map(|name| {
        let text = variable(name)?;
        let url = Url::parse(&text).ok().filter(Url::has_host);
        let url = url.or_else(|| Url::parse(&format!("http://{text}")).ok())?;
        Some(url.host_str()?.to_ascii_lowercase())
    });
    hosts.collect()
}

/// Looks names up, and leaves out what the rule forbids. What is connected to is what was looked
/// up here, so that nobody can answer a second question differently.
pub(crate) struct RuledResolver {
    pub(crate) rule: Arc<dyn AddressRule>,
    /// Those that the rule is not for.
    pub(crate) proxies: Vec<String>,
}

impl Resolve for RuledResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let rule = Arc::clone(&self.rule);
        let is_proxy = self.proxies.iter().any(|proxy| proxy == name.as_str());
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found
                .filter(|address| is_proxy || rule.allows(address.ip()))
                .collect();
            if allowed.is_empty() {
                return Err(Forbidden.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Whether the rule allows an address that is written as a number: such a one is not looked up.
pub(crate) fn allows_literal(rule: &dyn AddressRule, url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => rule.allows(address.into()),
        Some(Host::Ipv6(address)) => rule.allows(address.into()),
        Some(Host::Domain(_)) | None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_of_proxies_are_known_in_every_spelling() {
        let found = |value: &str| {
            let value = value.to_owned();
            proxies(move |name| (name == "HTTPS_PROXY").then(|| value.clone()))
        };
        for (value, host) in [
            ("http://Proxy.Corp:3128", "proxy.corp"),
            ("proxy.corp:3128", "proxy.corp"),
            ("socks5h://user:pass@proxy.corp", "proxy.corp"),
            ("localhost:8080", "localhost"),
        ] {
            assert_eq!(found(value), [host], "{value}");
        }
        assert!(found("").is_empty());
    }
}
