//! The name that a request is addressed to.
//!
//! A page of others can have a name of its own lead to this machine, and its requests would then be
//! requests of the same origin. Such a name is what gives it away.

use std::net::{Ipv4Addr, Ipv6Addr};

use http::request::Parts;
use http::uri::Authority;
use http::{StatusCode, Version, header};
use url::Url;

use crate::problem::{Problem, foreign};

/// A host and a port, as they are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) host: String,
    pub(super) port: Option<u16>,
}

impl Place {
    /// Reads what stands in `Host`, or behind the scheme of an origin.
    pub(super) fn read(text: &str) -> Option<Self> {
        if text.contains('@') {
            return None;
        }
        let authority: Authority = text.parse().ok()?;
        let host = authority.host();
        let port = match authority.as_str().strip_prefix(host)? {
            "" => None,
            rest => Some(rest.strip_prefix(':')?.parse().ok()?),
        };
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        (!host.is_empty()).then_some(Self { host, port })
    }

    fn is_in_digits(&self) -> bool {
        let six = self
            .host
            .strip_prefix('[')
            .and_then(|it| it.strip_suffix(']'));
        match six {
            Some(six) => six.parse::<Ipv6Addr>().is_ok(),
            None => self.host.parse::<Ipv4Addr>().is_ok(),
        }
    }
}

/// The names under which the gateway may be asked.
pub(super) struct Hosts {
    allowed: Vec<Place>,
    /// The origin of the public address, in its usual spelling.
    pub(super) public_origin: Option<String>,
}

impl Hosts {
    pub(super) fn new(allowed: &[String], public_url: Option<&Url>) -> Self {
        let mut places: Vec<Place> = Vec::new();
        for name in allowed {
            match Place::read(name) {
                Some(place) => places.push(place),
                None => tracing::warn!(
                    name = %foreign(name),
                    "an entry of gateway.allowedHosts is no name of a host, and counts for nothing"
                ),
            }
        }
        let public = public_url.and_then(Url::host_str);
        places.extend(public.and_then(Place::read).map(|place| Place {
            port: None,
            ..place
        }));
        Self {
            allowed: places,
            public_origin: public_url.map(|url| url.origin().ascii_serialization()),
        }
    }

    /// The place that a request is addressed to, if that is us.
    pub(super) fn check(&self, request: &Parts) -> Result<Place, Problem> {
        let mut values = request.headers.get_all(header::HOST).iter();
        let authority = request.uri.authority().map(Authority::as_str);
        let named = match (values.next(), values.next(), authority) {
            (Some(value), None, _) => value.to_str().ok(),
            // RFC 9113 §8.3.1: `:authority` stands in its place.
            (None, _, Some(authority)) if request.version == Version::HTTP_2 => Some(authority),
            _ => return Err(misdirected("a request needs one `Host`")),
        };
        let Some(place) = named.and_then(Place::read) else {
            return Err(misdirected("the `Host` of the request can't be read"));
        };
        // RFC 9112 §3.2.2: what stands in the request line counts, so the two must agree.
        let is_another = |it: &str| named != Some(it) && Place::read(it).as_ref() != Some(&place);
        if authority.is_some_and(is_another) {
            return Err(misdirected(
                "the address of the request and its `Host` are not the same",
            ));
        }
        let is_allowed = |allowed: &Place| {
            allowed.host == place.host && (allowed.port.is_none() || allowed.port == place.port)
        };
        if place.host == "localhost" || place.is_in_digits() || self.allowed.iter().any(is_allowed)
        {
            return Ok(place);
        }
        Err(misdirected(format!(
            "`{}` is no name of this gateway",
            foreign(&place.host)
        ))
        .hint("if it should be, add it to `gateway.allowedHosts`"))
    }
}

fn misdirected(message: impl Into<String>) -> Problem {
    Problem::new(StatusCode::MISDIRECTED_REQUEST, "wrong-host", message)
}
