//! Stores that nobody here wrote.

mod aws;
mod partners;
