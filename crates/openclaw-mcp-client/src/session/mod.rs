//! A conversation with a server in either era: requests, lists, rounds, subscriptions.

mod core;
mod handshake;
mod header_parameters;
mod list;
mod params;
mod rounds;
mod subscription;
mod telling;
mod terms;
mod tools;

pub(crate) use self::core::{Core, Limits, Request};
pub(crate) use self::handshake::{Discovered, discover, initialize, means_legacy};
pub(crate) use self::params::Parameters;
pub(crate) use self::subscription::Subscription;
pub use self::terms::Era;
