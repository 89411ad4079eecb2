//! What goes back to whoever asked: everything that the agent said, once, and the media with it.
//!
//! ```text
//! ReplyEvent → gathering → pieces → covered → fitting → OutPart → blocks
//! ```
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `gathering` | what is heard of a turn, within bounds; how it ends | how it is put together |
//! | `piece` | what is kept of a turn until its end | limits |
//! | `left_out` | the line that stands where something is missing | what is left out |
//! | `covered` | texts that later ones make needless | media |
//! | `places` | where texts stand in a longer one, all at once | what they mean |
//! | `fitting` | what fits into a reply, joined | names of files |
//! | `media` | media: judged, and as parts of a reply | how large a reply may be |
//! | `names` | names of files, no two alike | bytes |
//! | `blocks` | the parts as MCP has them | everything else |

mod blocks;
mod covered;
mod fitting;
mod gathering;
mod left_out;
mod media;
mod names;
mod piece;
mod places;

pub(crate) use blocks::blocks;
pub(crate) use gathering::Gathering;

use std::sync::Arc;

/// How many bytes are in a megabyte, as the limits count them.
const MEGABYTE: usize = 1 << 20;

/// How much goes back.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// The most bytes of one piece of media, decoded.
    item: usize,
    /// The most bytes of a reply: its texts, and its media decoded.
    reply: usize,
    /// The most bytes of its texts, so that they always fit.
    texts: usize,
    /// The most pieces that are kept of a turn, beside its last text.
    pieces: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            item: 20 * MEGABYTE,
            reply: 50 * MEGABYTE,
            texts: 16 * MEGABYTE,
            pieces: 10_000,
        }
    }
}

/// A part of what goes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutPart {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// Its type.
        mime_type: String,
        /// Its bytes in base64.
        data: Arc<str>,
    },
    /// Sound.
    Audio {
        /// Its type.
        mime_type: String,
        /// Its bytes in base64.
        data: Arc<str>,
    },
    /// Any other file.
    Resource {
        /// `attachment://name`
        uri: String,
        /// Its type.
        mime_type: String,
        /// Its bytes in base64.
        data: Arc<str>,
    },
}
