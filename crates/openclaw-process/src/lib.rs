//! Starts other people's programs with little, watches them, and ends them with everything they
//! started, whatever happens to us.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `resolve` | finding a program before it is started | starting it |
//! | `environment` | what a program gets to see of our environment | the values that are declared |
//! | `process` | a program that runs, and the way it is ended | how it is reached |
//! | `stderr` | the last lines of a program's standard error | deciding who sees them |
//! | `guarded` | starting programs behind a guardian that outlives us (Linux) | what is said to programs |
//! | `memory` | giving back memory of this process that it has no use for (Linux) | |
//! | `portable` | starting programs in groups or jobs (other systems) | |

mod environment;
#[cfg(target_os = "linux")]
mod guarded;
#[cfg(target_os = "linux")]
mod memory;
// Compiled for the tests of Linux, too, so that it is run by somebody.
#[cfg(any(not(target_os = "linux"), test))]
#[cfg_attr(
    target_os = "linux",
    expect(dead_code, unreachable_pub, reason = "here it is only tested")
)]
mod portable;
mod process;
mod resolve;
mod stderr;
mod streams;

#[cfg(target_os = "linux")]
use guarded as platform;
#[cfg(not(target_os = "linux"))]
use portable as platform;

pub use environment::{Inherited, child_environment};
#[cfg(target_os = "linux")]
pub use memory::{give_back_when_quiet, keep_little_memory};
pub use platform::{GuardianProgram, Launcher, raise_descriptor_limit, run_if_called};
pub use process::{End, Process, ProgramCommand, SpawnError, is_shortage};
pub use resolve::{ResolveError, find_program};
pub use stderr::{StderrLine, StderrTail};
pub use streams::{ProcessInput, ProcessOutput};
