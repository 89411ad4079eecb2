//! Programs behind a guardian, on Linux.

mod guardian;
mod launcher;

pub use guardian::{GuardianProgram, run_if_called};
pub use launcher::Launcher;
