//! Requests to stores: bounded, and repeated where that helps.

mod client;
mod patience;

pub(crate) use client::{Http, HttpError};
pub(crate) use patience::{Attempt, patiently, retry_after};
