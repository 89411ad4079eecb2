//! Stores that nobody here wrote.

mod aws;
#[cfg(target_os = "linux")]
mod keyring;
mod partners;
