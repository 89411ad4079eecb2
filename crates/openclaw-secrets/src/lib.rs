//! Keeps credentials out of every text that a person, a log or a model sees.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `secret` | the type that holds a credential and the marker that replaces it | where a credential comes from |
//! | `gathered` | bytes that come in pieces and leave no copies | where they come from |
//! | `reference` | the spellings of references to secrets, parsed | a secret, or access to a store |
//! | `detect` | what looks like a credential by name or value | what is done about it |
//! | `names` | what the name of a setting says | values |
//! | `shapes` | the table of well-known credential shapes | values that were learned |
//! | `redactor` | the learned values, their encodings, the replacement | input and output |
//! | `plain` | the words and placeholders that are no secrets | anything configurable |

mod detect;
mod gathered;
mod names;
mod plain;
mod redactor;
mod reference;
mod secret;
mod shapes;

pub use detect::{
    is_credential_name, is_credential_value, looks_like_credential, may_be_credential,
};
pub use gathered::{Gathered, TooMany};
pub use redactor::{Learned, Redactor};
pub use reference::{
    ConfiguredSource, FilePath, SecretReference, SecretReferenceError, contains_secret_uri,
    is_secret_uri, misspelt_secret_uri,
};
pub use secret::{REDACTED, Secret};
