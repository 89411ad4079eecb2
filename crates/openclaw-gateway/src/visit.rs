//! A request that was let in.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, Request};
use http::request::Parts;
use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;

use crate::door::Visitor;
use crate::peer::Peer;
use crate::problem::{Problem, foreign};
use crate::state::Gateway;

/// A request that was let in.
pub(crate) struct Visit {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) request: Request,
    /// Who asks.
    pub(crate) visitor: Visitor,
    /// Where they are.
    pub(crate) from: IpAddr,
    /// What there is for their connection.
    pub(crate) peer: Arc<Peer>,
}

impl Visit {
    /// What stands behind the question mark.
    pub(crate) fn query<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        match Query::try_from_uri(self.request.uri()) {
            Ok(Query(query)) => Ok(query),
            Err(rejection) => Err(Problem::bad_request(foreign(&rejection.body_text()))),
        }
    }

    /// The last part of the path.
    pub(crate) fn name(&self) -> Result<String, Problem> {
        let path = self.request.uri().path();
        let name = path.rsplit('/').next().unwrap_or_default();
        match percent_decode_str(name).decode_utf8() {
            Ok(name) => Ok(name.into_owned()),
            Err(_) => Err(Problem::bad_request("the name is not UTF-8")),
        }
    }

    /// What all requests share, what the request says, and what it brings.
    pub(crate) fn into_parts(self) -> (Arc<Gateway>, Parts, Body) {
        let (head, body) = self.request.into_parts();
        (self.gateway, head, body)
    }
}
