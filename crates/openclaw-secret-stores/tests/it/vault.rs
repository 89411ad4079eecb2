//! Secrets of Vault.

mod crowd;
mod fields;
mod login;
mod mounts;
mod tls;
mod tokens;
mod trouble;

use openclaw_secret_stores::{SecretError, SecretErrorKind};
use openclaw_testkit::fake_vault::{FakeVault, Kind};
use serde_json::json;

use crate::house::House;

/// The token that allows everything.
const TOKEN: &str = "hvs.token-for-everything";

/// A server with an engine of each version, and a secret in each.
fn vault() -> FakeVault {
    furnished(FakeVault::start().unwrap())
}

fn furnished(vault: FakeVault) -> FakeVault {
    let mut world = vault.world();
    world.mount("secret", Kind::Two);
    world.put("secret", "app", json!({ "password": "of version two" }));
    world.mount("kv", Kind::One);
    world.put("kv", "app", json!({ "password": "of version one" }));
    world.allow(TOKEN, &["*"]);
    drop(world);
    vault
}

/// A machine that knows the server, and these variables.
fn house(vault: &FakeVault, variables: &[(&str, &str)]) -> House {
    let address = vault.origin();
    let mut all = vec![("VAULT_ADDR", address.as_str())];
    all.extend_from_slice(variables);
    House::new(&all)
}

/// A machine that has the token for everything, too.
fn trusted(vault: &FakeVault) -> House {
    house(vault, &[("VAULT_TOKEN", TOKEN)])
}

/// Checks what a person has to look at, and what is said.
#[track_caller]
fn assert_says(error: &SecretError, kind: SecretErrorKind, words: &[&str]) {
    assert_eq!(error.kind(), kind, "{error}");
    let said = format!("{error}\n{}", error.hint_text().unwrap_or_default());
    for word in words {
        assert!(said.contains(word), "{word:?} is not in: {said}");
    }
}
