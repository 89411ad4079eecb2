//! The format of event streams: <https://html.spec.whatwg.org/multipage/server-sent-events.html>.

use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use memchr::{memchr, memchr2};

use crate::event::Event;

/// What may stand before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// No wait before coming back is longer, whatever a server says.
const LONGEST_RETRY: Duration = Duration::from_hours(1);
/// A buffer that is larger is given back once it is empty.
const KEPT: usize = 64 * 1024;

/// An event is larger than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// How many bytes it may have.
    pub limit: usize,
}

/// Makes events of bytes, however these are cut into pieces.
pub struct EventParser {
    limit: usize,
    /// Bytes that no line was made of yet.
    buffer: BytesMut,
    /// How many of them are known to hold no line end: a long line is looked through only once.
    scanned: usize,
    /// Whether the last line ended with a carriage return, so that a line feed belongs to it. (The
    /// event is not held back until that is known: nothing more may come for a long time.)
    after_return: bool,
    /// Whether no line has been seen.
    at_start: bool,
    /// Whether the buffer has grown beyond what is worth keeping.
    is_large: bool,
    /// Whether the line that is looked at has bytes that were not there the last time.
    has_grown: bool,
    /// Whether bytes of an event's data have come that nobody was told of.
    has_news: bool,
    pending: Pending,
}

/// An event whose empty line has not come.
#[derive(Default)]
struct Pending {
    event: Event,
    data: Data,
    /// How many bytes its lines have, without their ends.
    size: usize,
    /// Whether there was a field that matters.
    has_fields: bool,
}

/// The lines of data so far.
#[derive(Default)]
enum Data {
    #[default]
    None,
    /// One line, still where it was received.
    Line(Bytes),
    /// Several, put together.
    Lines(BytesMut),
}

impl EventParser {
    /// A parser of events that have at most so many bytes, with everything that belongs to them.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            buffer: BytesMut::new(),
            scanned: 0,
            after_return: false,
            at_start: true,
            is_large: false,
            has_grown: false,
            has_news: false,
            pending: Pending::default(),
        }
    }

    /// Sets the largest event from here on; what has come already counts.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Says whether bytes of an event's data have come since this was asked last. Comments are
    /// none, and neither are the other fields: both are sent only to keep a connection alive.
    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    /// Takes more bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
        self.is_large |= self.buffer.len() > KEPT;
    }

    /// Returns the next event that is complete.
    #[expect(
        clippy::should_implement_trait,
        reason = "there may be more after there was none"
    )]
    pub fn next(&mut self) -> Result<Option<Event>, TooLarge> {
        while let Some(end) = self.line_end()? {
            if end == 0 {
                self.at_start = false;
                self.skip(1);
                if let Some(event) = std::mem::take(&mut self.pending).finish() {
                    return Ok(Some(event));
                }
            } else {
                self.line(end);
            }
        }
        Ok(None)
    }

    /// Forgets what is incomplete. Says whether that was part of an event.
    pub fn abandon(&mut self) -> bool {
        let is_comment = self.buffer.first() == Some(&b':');
        let lost = self.pending.has_fields || !(self.buffer.is_empty() || is_comment);
        *self = Self::new(self.limit);
        lost
    }

    /// Finds the end of the first line, if it is there.
    fn line_end(&mut self) -> Result<Option<usize>, TooLarge> {
        if self.after_return && !self.buffer.is_empty() {
            self.after_return = false;
            if self.buffer[0] == b'\n' {
                self.skip(1);
            }
        }
        let found = memchr2(b'\n', b'\r', &self.buffer[self.scanned..]);
        let end = found.map(|offset| self.scanned + offset);
        let length = end.unwrap_or(self.buffer.len());
        if self.pending.size + length > self.limit {
            return Err(TooLarge { limit: self.limit });
        }
        self.has_grown = length > self.scanned;
        match end {
            Some(end) => {
                self.scanned = 0;
                self.after_return = self.buffer[end] == b'\r';
            }
            None => {
                self.scanned = length;
                self.has_news |= self.has_grown && begins_data(&self.buffer);
            }
        }
        Ok(end)
    }

    /// Takes the first line, which has this many bytes, and its end.
    fn line(&mut self, mut length: usize) {
        if std::mem::take(&mut self.at_start) && self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.skip(BYTE_ORDER_MARK.len());
            length -= BYTE_ORDER_MARK.len();
        }
        let line = &self.buffer[..length];
        let colon = memchr(b':', line);
        if colon == Some(0) {
            // Comments keep a connection alive and count for nothing, not even for the limit.
            self.skip(length + 1);
            return;
        }
        self.pending.size += length;
        let name_end = colon.unwrap_or(length);
        let value_start = match colon {
            Some(colon) if line.get(colon + 1) == Some(&b' ') => colon + 2,
            Some(colon) => colon + 1,
            None => length,
        };
        let (name, value) = (&line[..name_end], &line[value_start..]);
        if name == b"data" {
            let value = self.buffer.split_to(length).freeze().slice(value_start..);
            self.has_news |= self.has_grown && !value.is_empty();
            self.pending.data(value);
            self.skip(1);
        } else {
            self.pending.field(name, value);
            self.skip(length + 1);
        }
    }

    fn skip(&mut self, count: usize) {
        self.buffer.advance(count);
        if self.is_large && self.buffer.is_empty() {
            // Otherwise a stream that once carried something large would hold on to the memory.
            self.buffer = BytesMut::new();
            self.is_large = false;
        }
    }
}

impl Pending {
    fn data(&mut self, value: Bytes) {
        self.has_fields = true;
        self.data = match std::mem::take(&mut self.data) {
            Data::None => Data::Line(value),
            Data::Line(first) => {
                let mut lines = BytesMut::with_capacity(first.len() + value.len() + 1);
                lines.extend_from_slice(&first);
                // The first line holds on to what was received until it is let go.
                drop(first);
                append(lines, &value)
            }
            Data::Lines(lines) => append(lines, &value),
        };
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"event" if value.is_empty() => {
                // As good as none.
                self.event.name = None;
                return;
            }
            b"event" => self.event.name = Some(text(value)),
            b"id" if memchr(0, value).is_none() => self.event.id = Some(text(value)),
            b"retry" => match retry(value) {
                Some(retry) => self.event.retry = Some(retry),
                None => return,
            },
            _ => return,
        }
        self.has_fields = true;
    }

    fn finish(self) -> Option<Event> {
        let data = match self.data {
            Data::None => Bytes::new(),
            Data::Line(line) => line,
            Data::Lines(lines) => lines.freeze(),
        };
        self.has_fields.then_some(Event { data, ..self.event })
    }
}

/// Whether a line without its end holds some of an event's data.
fn begins_data(line: &[u8]) -> bool {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    line.strip_prefix(b"data:")
        .is_some_and(|value| !matches!(value, [] | [b' ']))
}

fn append(mut lines: BytesMut, value: &[u8]) -> Data {
    lines.reserve(value.len() + 1);
    lines.extend_from_slice(b"\n");
    lines.extend_from_slice(value);
    Data::Lines(lines)
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

fn retry(value: &[u8]) -> Option<Duration> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // More digits than a number holds are a long wait, too.
    let milliseconds = str::from_utf8(value).ok()?.parse().unwrap_or(u64::MAX);
    Some(Duration::from_millis(milliseconds).min(LONGEST_RETRY))
}

#[cfg(test)]
mod tests;
