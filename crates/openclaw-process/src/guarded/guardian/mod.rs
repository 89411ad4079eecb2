//! The process between us and the programs that we start, which ends them when we can't.

mod channel;
mod client;
mod message;
mod program;
mod tree;

use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use crate::guarded::descriptors;

pub(crate) use client::Client;
pub(crate) use message::Number;

/// The name under which a program is called to be the guardian.
const ARGUMENT: &str = "openclaw-guardian";

/// The program that can be the guardian.
#[derive(Clone, Debug)]
pub struct GuardianProgram(PathBuf);

impl GuardianProgram {
    /// The program that is running, whose `main` calls [`run_if_called`] before anything else.
    pub fn this_program() -> Self {
        // Not the path that it was started by: that may lead to a newer version by now.
        Self(PathBuf::from("/proc/self/exe"))
    }

    /// Another program, whose `main` calls [`run_if_called`] before anything else.
    pub fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

/// Makes this process the guardian if it was called to be one, and then says so when it is done.
///
/// Belongs at the very beginning of `main`: the guardian is a process of one thread.
pub fn run_if_called() -> Option<io::Result<()>> {
    let mut arguments = std::env::args_os();
    let called = arguments
        .next()
        .is_some_and(|name| name == OsStr::new(ARGUMENT));
    let limit = arguments
        .next()
        .and_then(|limit| limit.to_str()?.parse().ok());
    called.then(|| {
        if let Some(limit) = limit {
            descriptors::restore(limit)?;
        }
        let socket = io::stdin().as_fd().try_clone_to_owned()?;
        program::run(&socket)
    })
}
