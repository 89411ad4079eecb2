//! Requests to stores: bounded, and repeated where that helps.

mod client;
mod patience;

pub(crate) use client::{Http, HttpError, Trust, is_near, is_this_machine};
pub(crate) use patience::{Attempt, patiently, retry_after, silent};
