//! The page that a request comes from, where it comes from one.

use http::request::Parts;
use http::{StatusCode, header};

use super::Access;
use super::host::{Hosts, Place};
use crate::problem::{Problem, foreign};

/// Refuses what pages of others send.
pub(super) fn check(
    request: &Parts,
    host: &Place,
    hosts: &Hosts,
    access: Access,
) -> Result<(), Problem> {
    let mut sites = request.headers.get_all("sec-fetch-site").iter();
    let is_foreign = sites.any(|site| match site.as_bytes() {
        b"same-origin" | b"none" => false,
        // Another port of this machine is the same site, and a page of others all the same. It may lead
        // to our page, which is all that is open.
        b"same-site" => access != Access::Open,
        _ => true,
    });
    if is_foreign {
        return Err(refused("a page of somebody else sent this request"));
    }
    let mut origins = request.headers.get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else {
        return Ok(());
    };
    if origins.next().is_some() {
        return Err(refused("a request has one `Origin`"));
    }
    let text = origin.to_str().unwrap_or_default();
    if is_same(text, host) || hosts.public_origin.as_deref() == Some(text) {
        return Ok(());
    }
    Err(refused(format!(
        "the origin `{}` is not that of this gateway",
        foreign(text)
    )))
}

/// Whether a page has the address that it asks. How this machine is spelled makes a difference, as it
/// does for browsers.
fn is_same(origin: &str, host: &Place) -> bool {
    let Some((scheme, place)) = origin.split_once("://") else {
        return false;
    };
    let usual = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return false,
    };
    Place::read(place).is_some_and(|place| {
        place.host == host.host && place.port.unwrap_or(usual) == host.port.unwrap_or(usual)
    })
}

fn refused(message: impl Into<String>) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, "wrong-origin", message)
}
