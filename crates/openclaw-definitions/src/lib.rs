//! The definition of a server: composed from what somebody typed, judged, written to the
//! configuration and deleted from it, its credentials kept elsewhere.
//!
//! Nothing is printed: warnings, what was stored and what was deleted come back as data. Everything
//! runs in the asynchronous runtime of whoever asks.
//!
//! ```text
//! Typed ─ wanted ──→ NewServer ─ prepare ─→ Prepared ─ write ──→ Written ─ forget ─→ Forgotten
//!                                (judged)   (tried by whoever can)          (old credentials)
//! ```
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `definitions` | where definitions are: read, shown, written, deleted | connecting |
//! | `typed` | what somebody typed, made into a definition | reading a command line |
//! | `naming` | the name of a new server that was given none | |
//! | `words` | `KEY=VALUE`, and JSON | where it was typed |
//! | `trial` | a configuration that has nothing but a new server | starting it |
//! | `adding` | a new server from its definition to the file | trying it |
//! | `importing` | servers of other clients, from their files to ours | |
//! | `removing` | a server that is gone, and the logins to it | |
//! | `problems` | what is wrong with the files, as plain data | deciding what is wrong |
//! | `credentials` | which credentials of a definition can be kept elsewhere | the keyring |
//! | `keeping` | those credentials in the keyring: stored, found again, deleted | |
//! | `attendant` | whoever waits meanwhile | terminals |
//! | `failure` | why it was not done | |

mod adding;
mod attendant;
mod credentials;
mod definitions;
mod failure;
mod importing;
mod keeping;
mod naming;
mod problems;
mod removing;
#[cfg(test)]
mod testing;
mod trial;
mod typed;
mod words;

pub use adding::{NOTHING_WRITTEN, Prepared, reached};
pub use attendant::{Attendant, Nobody};
pub use definitions::{Definitions, Leftovers, Written, shown};
pub use failure::{DefinitionError, config_errors, unknown_server, unusable};
pub use importing::Imports;
pub use keeping::Forgotten;
pub use problems::{FoundProblems, ProblemWords};
pub use removing::{LoggedOut, log_out, not_logged_out};
pub use typed::{NewServer, TransportWord, Typed, Wanted, server_name, wanted};
pub use words::{object, pairs};
