//! Who is at the other end of a connection, and what there is for it.

use std::net::IpAddr;

use crate::luggage::Luggage;
use crate::state::Gateway;
use crate::wire::Allowance;

/// Who is at the other end of a connection, and what there is for it.
pub(crate) struct Peer {
    /// Where it is.
    pub(crate) address: IpAddr,
    /// How much it may send before it is known.
    pub(crate) allowance: Allowance,
    /// Room for its large calls, and for large answers to it.
    pub(crate) calls: Luggage,
    pub(crate) answers: Luggage,
}

impl Peer {
    /// One that asks one thing at a time.
    pub(crate) fn single(address: IpAddr, allowance: Allowance, gateway: &Gateway) -> Self {
        Self {
            address,
            allowance,
            calls: gateway.calls.clone(),
            answers: gateway.answers.clone(),
        }
    }

    /// One that asks many at a time: it has a share of what there is, and others the rest.
    pub(crate) fn several(address: IpAddr, gateway: &Gateway) -> Self {
        Self {
            address,
            // What a connection may send is bounded for WebSockets, which there are none here.
            allowance: Allowance::default(),
            calls: gateway.calls.share(),
            answers: gateway.answers.share(),
        }
    }
}
