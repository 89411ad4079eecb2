//! Requests to stores: bounded, and repeated where that helps.

mod near;
mod patience;

pub(crate) use near::{is_near, store_client};
pub(crate) use openclaw_http::{Http, HttpError, Trust, is_this_machine};
pub(crate) use patience::{Attempt, patiently, retry_after, silent};
