//! Who is at the other end of a connection, and what there is for it.

use std::net::IpAddr;

use crate::body::Coming;
use crate::luggage::Luggage;
use crate::state::Gateway;
use crate::wire::Allowance;

/// Who is at the other end of a connection, and what there is for it.
pub(crate) struct Peer {
    /// Where it is.
    pub(crate) address: IpAddr,
    /// How much it may send before it is known.
    pub(crate) allowance: Allowance,
    /// Room for its large chat completions and calls, and for large answers to it.
    pub(crate) chats: Luggage,
    pub(crate) calls: Luggage,
    pub(crate) answers: Luggage,
    /// What comes with its requests.
    pub(crate) coming: Coming,
}

impl Peer {
    /// One that asks one thing at a time.
    pub(crate) fn single(address: IpAddr, allowance: Allowance, gateway: &Gateway) -> Self {
        Self {
            address,
            allowance,
            chats: gateway.chats.clone(),
            calls: gateway.calls.clone(),
            answers: gateway.answers.clone(),
            coming: Coming::default(),
        }
    }

    /// One that has all the room that there is.
    #[cfg(test)]
    pub(crate) fn alone() -> Self {
        Self {
            address: IpAddr::from([127, 0, 0, 1]),
            allowance: Allowance::default(),
            chats: Luggage::of_chats(),
            calls: Luggage::of_calls(),
            answers: Luggage::new(crate::luggage::ANSWERS),
            coming: Coming::default(),
        }
    }

    /// One that asks many at a time: it has a share of what there is, and others the rest.
    pub(crate) fn several(address: IpAddr, gateway: &Gateway) -> Self {
        Self {
            address,
            // What a connection may send is bounded for WebSockets, which there are none here.
            allowance: Allowance::default(),
            chats: gateway.chats.share(),
            calls: gateway.calls.share(),
            answers: gateway.answers.share(),
            coming: Coming::default(),
        }
    }
}
