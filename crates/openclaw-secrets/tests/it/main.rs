//! The crate as its users see it.

mod encodings;
mod redaction;
mod references;
