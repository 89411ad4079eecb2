//! Credentials in the keyring, by their references.

use openclaw_content::shown_line;
use openclaw_engine::StoredCredential;

use crate::LINE;

/// The credentials that the keyring has now, a line each.
pub fn stored(credentials: &[StoredCredential]) -> String {
    lines(credentials, "stored in")
}

/// The credentials that it has no more.
pub fn forgotten(credentials: &[StoredCredential]) -> String {
    lines(credentials, "deleted from")
}

fn lines(credentials: &[StoredCredential], verb: &str) -> String {
    let credentials = credentials.iter();
    credentials.map(|it| credential(it, verb)).collect()
}

/// What became of a credential, in a line.
pub fn credential(credential: &StoredCredential, verb: &str) -> String {
    let label = shown_line(credential.label(), LINE);
    let reference = shown_line(&credential.reference, LINE);
    format!("{label}: {verb} the keyring, {reference}\n")
}
