//! Tools whose definitions must not change unnoticed.
//!
//! A server that was trusted when a person looked at its tools can later describe the same tools
//! otherwise, and a model follows descriptions. So what a definition was at first sight is kept.

mod hash;
mod store;

pub use hash::DefinitionHash;
#[cfg(test)]
pub(crate) use hash::tests::tool as sample_tool;
pub use store::{PinError, Pins, Verdict};
