//! What tests of this crate work with.

use std::path::Path;

use openclaw_config::{Environment, Location};
use openclaw_secrets::Redactor;

use crate::definitions::Definitions;

/// Definitions in a directory of their own, far from any keyring.
pub(crate) fn definitions(home: &Path) -> Definitions {
    let variables = [
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus"),
        ("HOME", home.to_str().unwrap()),
    ];
    let location = Location {
        config: home.join("openclaw.json"),
        state: home.join("state"),
        profile: None,
        named: true,
    };
    let environment = Environment::new(variables, Some(home), home);
    Definitions::new(location, environment, Redactor::new())
}
