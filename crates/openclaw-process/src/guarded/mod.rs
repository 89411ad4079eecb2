//! Programs behind a guardian, on Linux.

mod descriptors;
mod guardian;
mod launcher;

pub use descriptors::raise_descriptor_limit;
pub use guardian::{GuardianProgram, run_if_called};
pub use launcher::Launcher;
