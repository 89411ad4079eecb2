//! What is kept of a turn until its end.

use super::left_out::LeftOut;
use super::media::HeldMedia;

/// A piece of what goes back, at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A text.
    Said(Said),
    /// Something that is not text.
    Media(HeldMedia),
    /// What is only named.
    LeftOut(LeftOut),
    /// So many pieces that are only counted.
    Surplus(usize),
}

/// A text, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// Who speaks.
    pub(super) voice: Voice,
    /// What is said.
    pub(super) text: String,
}

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// The agent, or a command that answers in its place.
    Agent,
    /// A tool: foreign text, in its frames.
    Tool {
        /// Its name, as it stands in our own lines.
        name: String,
    },
    /// We do, with an address to open.
    Address,
}
