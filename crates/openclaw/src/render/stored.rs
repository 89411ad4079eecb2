//! Credentials in the keyring, by their references.

use openclaw_content::shown_line;
use serde::Serialize;

use crate::render::LINE;

/// A credential that the keyring has, or had. The value is not in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct StoredCredential {
    /// Where it stands in the definition.
    pub(crate) field: String,
    /// The reference that stands there.
    pub(crate) reference: String,
    /// What a person knows it by.
    #[serde(skip)]
    pub(crate) label: String,
}

/// The credentials that the keyring has now, a line each.
pub(crate) fn stored(credentials: &[StoredCredential]) -> String {
    lines(credentials, "stored in")
}

/// The credentials that it has no more.
pub(crate) fn forgotten(credentials: &[StoredCredential]) -> String {
    lines(credentials, "deleted from")
}

fn lines(credentials: &[StoredCredential], verb: &str) -> String {
    let credentials = credentials.iter();
    credentials.map(|it| it.line(verb)).collect()
}

impl StoredCredential {
    /// What became of it, in a line.
    pub(super) fn line(&self, verb: &str) -> String {
        let label = shown_line(&self.label, LINE);
        let reference = shown_line(&self.reference, LINE);
        format!("{label}: {verb} the keyring, {reference}\n")
    }
}
