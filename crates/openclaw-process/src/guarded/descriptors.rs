//! How many descriptors this process and the programs that it starts may have.

use std::io;
use std::sync::OnceLock;

use rustix::process::{Resource, getrlimit, setrlimit};

/// What was allowed before it was raised.
static BEFORE: OnceLock<u64> = OnceLock::new();

/// Lets this process have as many descriptors as the system permits, for somebody who holds many
/// connections. Programs that are started get what was allowed before: some of them look at every
/// descriptor that they may have.
///
/// The result is how many there may be, where that is known.
pub fn raise_descriptor_limit() -> Option<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    if let Some(current) = limit.current
        && limit.maximum.is_none_or(|most| most > current)
    {
        let _ = BEFORE.set(current);
        limit.current = limit.maximum;
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::debug!("the limit of descriptors stays as it is: {error}");
        }
    }
    getrlimit(Resource::Nofile).current
}

/// What programs are to get, if it is not what this process has.
pub(super) fn before() -> Option<u64> {
    BEFORE.get().copied()
}

/// Makes this the limit of this process, and of all that it starts.
pub(super) fn restore(current: u64) -> io::Result<()> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = Some(current);
    Ok(setrlimit(Resource::Nofile, limit)?)
}
