//! Where messages begin and end in a stream of bytes: each follows its length, which is four bytes,
//! the highest first.

use std::mem;

use bytes::Bytes;
use thiserror::Error;

/// The longest message that is read or written, in bytes.
pub const LONGEST_FRAME: usize = 256 << 20;

/// The bytes of a length.
pub(crate) const HEADER: usize = 4;

/// How much is read at once, unless a longer message is under way.
const PIECE: usize = 8 << 10;

/// Somebody announces more than is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a message of {announced} bytes is announced, and {limit} is the most")]
pub(crate) struct TooLong {
    announced: usize,
    limit: usize,
}

/// Messages in what arrives. It holds as much memory as has arrived, and at most as much again,
/// whatever is announced; none while nothing is under way.
#[derive(Debug, Default)]
pub(crate) struct FrameReader {
    /// What arrived; what lies before `start` was taken, what lies behind `end` is only room.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

#[cfg_attr(
    not(any(unix, test)),
    expect(dead_code, reason = "nothing arrives where there is no socket")
)]
impl FrameReader {
    /// Room for what arrives next; never empty. [`FrameReader::filled`] says how much of it was used.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        let have = self.end - self.start;
        // A message that is under way is read up to its end and no further, so that it can be handed
        // on without being copied.
        let missing = self.announced().map_or(PIECE, |length| {
            (HEADER + length).saturating_sub(have).max(1)
        });
        let size = if have + missing <= PIECE {
            PIECE
        } else {
            missing.min(have.max(PIECE))
        };
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.start = 0;
            self.end = have;
        }
        let available = self.buffer.len() - self.end;
        if available < size.div_ceil(2) {
            self.buffer.truncate(self.end);
            self.buffer.reserve_exact(size);
            self.buffer.resize(self.end + size, 0);
        }
        let until = self.buffer.len().min(self.end + size);
        &mut self.buffer[self.end..until]
    }

    /// Takes note of how much arrived in the room.
    pub(crate) fn filled(&mut self, count: usize) {
        self.end = (self.end + count).min(self.buffer.len());
        if self.start == self.end {
            *self = Self::default();
        }
    }

    /// Takes the next message if all of it is here.
    pub(crate) fn take(&mut self, limit: usize) -> Result<Option<Bytes>, TooLong> {
        let Some(announced) = self.announced() else {
            return Ok(None);
        };
        if announced > limit {
            return Err(TooLong { announced, limit });
        }
        let begin = self.start + HEADER;
        let end = begin + announced;
        if self.end < end {
            return Ok(None);
        }
        if self.end > end {
            let message = Bytes::copy_from_slice(&self.buffer[begin..end]);
            self.start = end;
            return Ok(Some(message));
        }
        let mut whole = mem::take(self).buffer;
        whole.truncate(end);
        Ok(Some(Bytes::from(whole).slice(begin..)))
    }

    /// The length of the next message, once that is here.
    fn announced(&self) -> Option<usize> {
        let (header, _) = self.buffer[self.start..self.end].split_first_chunk::<HEADER>()?;
        Some(u32::from_be_bytes(*header) as usize)
    }

    /// How much memory is held.
    #[cfg(test)]
    fn held(&self) -> usize {
        self.buffer.capacity()
    }
}

#[cfg(test)]
mod tests;
