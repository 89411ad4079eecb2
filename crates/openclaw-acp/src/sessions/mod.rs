//! Sessions of an editor.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `session` | a session that is open | how it was opened |
//! | `mode` | whether a person is asked about tools | |
//! | `record` | what is kept of a session beside what was said in it | what was said in it |
//! | `opening` | new sessions, and those from earlier | what was said in them |
//! | `loans` | servers that the editor lends | how they are started |
//! | `lender` | that somebody is there who lends, and loans that are made again | what is lent |
//! | `commands` | what can be typed behind a slash | what it does |
//! | `replay` | what was said earlier, told again | how it is kept |
//! | `listing` | which sessions there are | |
//! | `closing` | the end of sessions | |

mod closing;
mod commands;
mod lender;
mod listing;
pub(crate) mod loans;
mod mode;
mod opening;
mod record;
mod replay;
mod session;

pub(crate) use closing::{close, delete};
pub(crate) use listing::list;
pub(crate) use mode::Mode;
pub(crate) use opening::{begin, load, resume};
pub(crate) use session::{Session, TurnTaken};
