//! Requests to stores: bounded, and repeated where that helps.

mod client;
mod patience;

pub(crate) use client::{Http, HttpError, is_near, use_ring};
pub(crate) use patience::{Attempt, patiently, retry_after};
