//! Who comes in: the name that a request is addressed to, the page that it comes from, and the
//! credential that it brings.

mod forwarded;
mod guesses;
mod host;
mod key;
mod origin;

use std::net::IpAddr;

use http::request::Parts;
use http::{HeaderValue, Method, StatusCode, header};
use url::Url;

use crate::problem::Problem;
use crate::setup::Credential;
use guesses::Guesses;
use host::Hosts;
use key::{Key, Presented};

/// What a request has to bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing: there is nothing to be learned or done.
    Open,
    /// Nothing, but whoever proves who they are is told more.
    More,
    /// The credential.
    Closed,
    /// The credential, with the request or as its first message: pages can't send headers.
    Later,
}

/// Who a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visitor {
    /// Anybody.
    Anybody,
    /// Somebody who proved to be allowed in, or need not.
    Known,
}

/// Who comes in.
pub(crate) struct Door {
    key: Key,
    hosts: Hosts,
    guesses: Guesses,
}

impl Door {
    /// A door for those who have the credential, under the names that are given.
    pub(crate) fn new(
        credential: &Credential,
        allowed_hosts: &[String],
        public_url: Option<&Url>,
    ) -> Self {
        Self {
            key: Key::new(credential),
            hosts: Hosts::new(allowed_hosts, public_url),
            guesses: Guesses::new(),
        }
    }

    /// Who counts for a request: its peer, or whoever a proxy of ours says that it speaks for. Where the
    /// gateway has a public address, everybody out there would otherwise be one.
    pub(crate) fn whence(&self, request: &Parts, peer: IpAddr) -> IpAddr {
        if self.hosts.public_origin.is_none() || !peer.to_canonical().is_loopback() {
            return peer;
        }
        forwarded::address(&request.headers).unwrap_or(peer)
    }

    /// Looks at a request before anything is done for it.
    pub(crate) fn admit(
        &self,
        request: &Parts,
        from: IpAddr,
        access: Access,
    ) -> Result<Visitor, Problem> {
        let host = self.hosts.check(request)?;
        origin::check(request, &host, &self.hosts, access)?;
        let presented = key::presented(request);
        let visitor = self.visitor(presented.as_ref(), from, access)?;
        self.no_simple_request(request, presented.as_ref())?;
        Ok(visitor)
    }

    /// Looks at a credential that comes as a message.
    pub(crate) fn admit_token(&self, token: &str, from: IpAddr) -> Result<(), Problem> {
        self.judge(&Presented::Bearer(token.to_owned()), from)
    }

    fn visitor(
        &self,
        presented: Option<&Presented>,
        from: IpAddr,
        access: Access,
    ) -> Result<Visitor, Problem> {
        if access == Access::Open {
            return Ok(Visitor::Anybody);
        }
        if self.key.is_nothing() {
            return Ok(Visitor::Known);
        }
        match presented {
            // A wrong credential is wrong everywhere: else this would be the place to try them.
            Some(presented) => self.judge(presented, from).map(|()| Visitor::Known),
            None if access == Access::Closed => Err(unauthorized(
                "this needs the token of the gateway",
                "send it as `Authorization: Bearer …`; it is in `gateway.token` in the state directory",
            )),
            None => Ok(Visitor::Anybody),
        }
    }

    fn judge(&self, presented: &Presented, from: IpAddr) -> Result<(), Problem> {
        // What can't be guessed lets in whoever has it, whatever others at the same address try. What can
        // be is not even looked at beyond the limit.
        if self.key.can_be_guessed() {
            self.guesses.may_try(from).map_err(too_many)?;
        }
        if self.key.fits(presented) {
            return Ok(());
        }
        self.guesses.wrong(from).map_err(too_many)?;
        Err(unauthorized(
            "the credential is wrong",
            "`gateway.auth` and `gateway.token` in the state directory say what it is",
        ))
    }

    /// Without a credential in a header that no page can set, what protects against pages of others is
    /// that they can't send JSON without asking first, and are never answered that they may.
    fn no_simple_request(
        &self,
        request: &Parts,
        presented: Option<&Presented>,
    ) -> Result<(), Problem> {
        let is_reading = matches!(request.method, Method::GET | Method::HEAD | Method::OPTIONS);
        let is_proved = matches!(presented, Some(Presented::Bearer(_))) && !self.key.is_nothing();
        if is_reading || is_proved {
            return Ok(());
        }
        let is_json = request
            .headers
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split(';').next())
            .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
        if is_json {
            return Ok(());
        }
        Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "not-json",
            "this takes JSON alone",
        )
        .hint("send `Content-Type: application/json`"))
    }
}

fn unauthorized(message: &str, hint: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
        .hint(hint)
        .header(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer realm=\"openclaw\""),
        )
}

fn too_many(seconds: u64) -> Problem {
    Problem::new(
        StatusCode::TOO_MANY_REQUESTS,
        "too-many-attempts",
        "too many wrong credentials came from this address",
    )
    .header(header::RETRY_AFTER, HeaderValue::from(seconds))
}
