//! Lines that come in: one JSON value each, of which the bytes of attachments go to files.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `reader` | the thread that reads, and the way to whoever acts on lines | JSON |
//! | `scanner` | where lines end | what is in them |
//! | `line` | one line: what is kept of it, within limits, and what it amounts to | input |
//! | `trail` | at which place of a message the next value stands | values |
//! | `quoted` | where a string ends | what it says |
//! | `unescape` | what a string says, and whether it is one | base64 |
//! | `attachment` | the string of an attachment, on its way to a file | the rest of the line |
//! | `spool` | what an attachment decodes to, put into a file | JSON |
//! | `luggage` | what was put into files, for whoever acts on a message | files |
//! | `identifier` | the identifier of a request that is refused | other values |
//! | `limits` | how much of everything there may be | what happens beyond |

mod attachment;
mod identifier;
mod limits;
mod line;
mod luggage;
mod quoted;
mod reader;
mod scanner;
mod spool;
#[cfg(test)]
mod tests;
mod trail;
mod unescape;

pub(crate) use luggage::Luggage;
pub(crate) use reader::start;
pub(crate) use spool::{SpoolProblem, Spooled};

use serde_json::Value;

/// What came in on one line.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A JSON value. Where the text of an attachment's `data` stood (at
    /// `params.arguments.images[].data` and `params.arguments.files[].data`, also within a batch),
    /// there is now the place of its bytes in `spooled`, as a decimal number in a string. Every text
    /// that stood there is replaced, so nobody can forge one.
    Message {
        /// The value.
        value: Value,
        /// The bytes of attachments.
        spooled: Vec<Spooled>,
    },
    /// Something that can't be used.
    Refused {
        /// The identifier of the request, as far as one was found: a text or a number. None for a
        /// batch.
        id: Option<Value>,
        /// Why.
        problem: Problem,
    },
}

/// Why a line can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    /// It is not JSON.
    #[error("the line is not JSON: {0}")]
    NotJson(String),
    /// It is larger than a message may be.
    #[error("the message has more than {limit} bytes{}", if *.without_attachments { " without its attachments" } else { "" })]
    TooLarge {
        /// The limit.
        limit: usize,
        /// Whether that is without the bytes of attachments.
        without_attachments: bool,
    },
    /// It has more values and brackets than a message may have.
    #[error("the message has more than {limit} values and brackets")]
    TooManyValues {
        /// The limit.
        limit: usize,
    },
}
