//! Reads JSON that somebody else wrote without letting it take all memory: a value takes dozens of bytes there, and two
//! in a text.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `count` | how many values a text has, found out without keeping any | what they are |
//! | `value` | a text as a value, counted while it is read | |

mod count;
mod value;

pub use count::read;
pub use value::read_value;

/// How many values there may be in a text.
const MOST: usize = 500_000;

/// What is said where there are more.
const TOO_MANY: &str = "it has too many values";
