//! A fake MCP server as a real program, able to misbehave in every way, and what tests use to
//! watch it. For tests only: no crate that is shipped depends on it.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `fake_server` | the program: both eras of the protocol, three transports, every fault | a client |
//! | `running` | starting the program from a test, and ending it | what is said to it |
//! | `journal` | reading what the program saw | deciding whether that was right |
//! | `figures` | figures of benchmarks beside their budgets | measuring |
//! | `keychain` | a real keyring on a bus of its own | what is stored in it |
//! | `partners` | where the programs are that nobody here wrote | starting them |
//! | `pictures` | files of any size that look like what they are said to be | |
//! | `login_partner` | starting those of them that one has to log in to | what is said to them |
//! | `stand_in` | HTTP servers that stand in for services which can't be had here | what they answer |
//! | `collector` | a collector of traces, and what it was sent | judging it |
//! | `certificates` | authorities of our own, and what they vouch for | |
//! | `fake_google` | a stand-in for Google's Secret Manager and for what gives access tokens | a client |
//! | `fake_login` | an authorization server and an MCP server that it protects, as a program and in a test | a client |
//! | `fake_model` | a service of models, which keeps what it is asked | a client |
//! | `fake_vault` | a stand-in for Vault | a client |
//! | `leaks` | looking for processes and descriptors that are left | ending them |
//! | `memory` | looking for what is left in memory, and how much there was of it | |

pub mod certificates;
pub mod collector;
pub mod fake_google;
pub mod fake_login;
pub mod fake_model;
pub mod fake_server;
pub mod fake_vault;
pub mod figures;
mod journal;
#[cfg(unix)]
pub mod keychain;
pub mod leaks;
mod login_partner;
#[cfg(target_os = "linux")]
pub mod memory;
mod partners;
pub mod pictures;
mod running;
pub mod stand_in;

pub use journal::JournalReader;
pub use login_partner::LoginPartner;
pub use partners::partners;
pub use running::{FakeServer, RunningServer};
