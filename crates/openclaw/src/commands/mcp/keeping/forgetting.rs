//! Entries of the keyring that nothing refers to any more.

use openclaw_config::{Config, load};
use openclaw_secrets::SecretReference;

use crate::commands::Session;
use crate::commands::mcp::credentials::{is_ours, is_referred_to, referred, service};
use crate::commands::mcp::keeping::{Keeper, described};
use crate::failure::Failure;
use crate::render::StoredCredential;

/// What was deleted, and warnings about what could not be.
#[derive(Default)]
pub(in crate::commands::mcp) struct Forgotten {
    pub(in crate::commands::mcp) deleted: Vec<StoredCredential>,
    pub(in crate::commands::mcp) warnings: Vec<String>,
}

/// Deletes those entries of ours that a server had and that nothing refers to any more.
pub(in crate::commands::mcp) fn forget(
    session: &Session<'_>,
    before: &Config,
    server: &str,
) -> Result<Forgotten, Failure> {
    let location = session.location()?;
    let service = service(location.profile.as_deref());
    let mut had = referred(before);
    had.retain(|it| it.server == server && is_ours(&service, it));
    let mut forgotten = Forgotten::default();
    if had.is_empty() {
        return Ok(forgotten);
    }
    let Some(now) = load(&location, &session.environment).config else {
        return Ok(forgotten);
    };
    had.retain(|it| !is_referred_to(&now, &it.reference));
    let keeper = Keeper::new(session, before)?;
    let mut seen = Vec::new();
    for it in had {
        let SecretReference::Keyring { account, .. } = &it.reference else {
            continue;
        };
        if seen.contains(account) {
            continue;
        }
        seen.push(account.clone());
        match keeper.wait(keeper.keyring.delete(&service, account))? {
            Ok(true) => forgotten.deleted.push(described(&it.field, &it.reference)),
            Ok(false) => {}
            Err(error) => forgotten.warnings.push(format!(
                "the keyring still has {}, which nothing uses: {error}",
                it.reference
            )),
        }
    }
    Ok(forgotten)
}
