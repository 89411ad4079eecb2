//! How much of everything there may be.

const MIB: usize = 1 << 20;

/// How much of everything there may be. Each limit is itself allowed.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// The bytes of a line, without its line feed.
    pub(super) line: usize,
    /// The bytes of a line without its attachments.
    pub(super) skeleton: usize,
    /// The commas and opening brackets of a line: there are about as many values.
    pub(super) values: usize,
    /// The bytes of an attachment, decoded.
    pub(super) attachment: u64,
    /// The images that a message may have.
    pub(super) images: usize,
    /// The other files that a message may have.
    pub(super) files: usize,
    /// The attachments of a line that are kept, whatever a batch has of them: each is an open file, and
    /// some systems allow a process no more than 256.
    pub(super) kept: usize,
}

impl Limits {
    /// Those of the tool: ten images and five files of 15 MiB each, which are 300 MiB in base64, and a
    /// message of 16 MiB, which is three times as long where letters are escaped.
    pub(super) const TOOL: Self = Self {
        line: 320 * MIB,
        skeleton: 64 * MIB,
        // A value takes far more memory than the two bytes that it may take in a line, and the tool has
        // a dozen.
        values: 20_000,
        attachment: 15 << 20,
        images: 10,
        files: 5,
        kept: 60,
    };
}
