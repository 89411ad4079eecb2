//! What a person is asked.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `consent` | whether a tool may run | which tools need it |
//! | `asking` | what a server wants to know | fields |
//! | `form` | the fields of a form, in both directions | what is done with them |

mod asking;
mod consent;
mod form;

pub(crate) use asking::{Answered, ask};
pub(crate) use consent::consent;
