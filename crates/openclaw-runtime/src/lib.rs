//! The runtime in this process: what the engine boundary asks, answered by the servers themselves.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `runtime` | what a runtime is made of, its beginning and end | answers |
//! | `answers` | the answer to each question | the way of a call |
//! | `observer` | what happened, counted and told | what follows from it |
//! | `report` | servers, tools and results as plain data | decisions |
//! | `elsewhere` | work that waits for disks | what it is |
//! | `lasting` | settings that count until the process ends | |
//! | `traces` | whether traces are exported, where, and with which headers | spans |
//! | `unknown` | what is said about names that are not there | |

mod answers;
mod elsewhere;
mod lasting;
mod observer;
mod report;
mod runtime;
mod traces;
mod unknown;

pub use runtime::{Life, Runtime, RuntimeSetup};
pub use traces::reading as traces_reading;
