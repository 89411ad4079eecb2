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

/// Looks names up, and leaves out what the rule forbids. What is connected to is what was looked
/// up here, so that nobody can answer a second question differently.
pub(crate) struct RuledResolver(pub(crate) Arc<dyn AddressRule>);

impl Resolve for RuledResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let rule = Arc::clone(&self.0);
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> =
                found.filter(|address| rule.allows(address.ip())).collect();
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
