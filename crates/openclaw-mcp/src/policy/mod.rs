//! Which tools an agent may use.

mod decide;
mod filter;
mod pattern;

pub use decide::{Decision, Policy};
pub use filter::ServerFilter;
pub(crate) use pattern::Pattern;
