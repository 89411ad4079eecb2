//! Gets secrets from where they are kept, at the moment they are needed and no earlier.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `resolver` | from references to secrets: side by side, each with a deadline, learned by the redactor | how a store is asked |
//! | `provider` | what a store is asked and answers, for all of them | a store |
//! | `surroundings` | what stores see of the machine: variables, home, programs | stores |
//! | `value` | from what a store answered to a secret that can be used | where it came from |
//! | `error` | why a secret can't be had, in words without it | |
//! | `http` | requests to stores: bounded, repeated where that helps | what is asked |
//! | `program` | programs that answer on their standard output | which programs |
//! | `reading` | files that may lie on a network, read on one thread each | what is in them |
//! | `environment`, `file`, `exec`, `keyring` | these places | each other |
//! | `gcp`, `aws`, `vault` | these services | each other, but that Google takes AWS's word for who we are |

mod aws;
mod environment;
mod error;
mod exec;
mod file;
mod gcp;
mod http;
mod keyring;
mod program;
mod provider;
mod reading;
mod resolver;
mod surroundings;
mod value;
mod vault;

pub use error::{SecretError, SecretErrorKind};
pub use keyring::Keyring;
pub use provider::Remark;
pub use resolver::{Resolved, SecretResolver};
pub use surroundings::Surroundings;
