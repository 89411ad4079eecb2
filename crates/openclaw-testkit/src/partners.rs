//! Programs that nobody here wrote: `scripts/partners` installs them.

use std::path::{Path, PathBuf};

/// Where they are, or should be.
pub(crate) fn place() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::var_os("OPENCLAW_PARTNERS")
        .map_or_else(|| workspace.join("target/partners"), PathBuf::from)
}

/// Where they are.
///
/// # Panics
///
/// Where they are not: a test that needs them must not pass without them.
pub fn partners() -> PathBuf {
    let place = place();
    assert!(
        place.join("installed").exists(),
        "the programs to test against are not in {}: run scripts/partners",
        place.display()
    );
    place.canonicalize().unwrap_or(place)
}
