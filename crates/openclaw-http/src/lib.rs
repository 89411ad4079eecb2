//! Requests to services other than MCP servers (stores of secrets, authorization servers, models): few,
//! so they need no speed, but bounded, and never led elsewhere.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `client` | one request and its answer | what is asked |
//! | `outgoing` | the body of a request, in pieces | what is in it |
//! | `addresses` | which addresses a connection may be made to | why |

mod addresses;
mod client;
mod outgoing;

pub use addresses::AddressRule;
pub use client::{Arriving, Http, HttpError, HttpSettings, Trust, is_this_machine};
pub use outgoing::Outgoing;
pub use reqwest::{Certificate, Identity};
