//! How many processes work at once.

use std::num::NonZero;
use std::thread::available_parallelism;

use tokio::sync::Semaphore;

/// More at once would only take memory from each other.
const MOST: usize = 4;

/// As many seats as there are cores, and few.
pub(crate) fn seats() -> Semaphore {
    let cores = available_parallelism().map_or(1, NonZero::get);
    Semaphore::new(cores.min(MOST))
}
