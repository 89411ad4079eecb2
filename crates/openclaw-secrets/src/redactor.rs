//! The filter that every log line and diagnostic passes before anyone sees it.

mod decoded;
mod forms;
mod fragments;
mod index;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use crate::plain::is_common_word;
use crate::secret::{REDACTED, Secret};
use crate::shapes;
use index::Index;

/// The shortest value that can be hidden without hiding half of every text, in bytes.
const SHORTEST_VALUE: usize = 6;

/// The longest value that is learned whole, in bytes.
const LONGEST_VALUE: usize = 64 * 1024;

/// How often a text is gone through at most.
///
/// Twice is nearly always enough. A value that ends with `[` can make each replacement the cause
/// of one more, and nobody shall be able to keep us busy with that.
const MOST_PASSES: usize = 8;

/// Replaces secrets in texts by [`REDACTED`].
///
/// A redactor knows the values it has [learned](Redactor::learn), whatever their shape, and the
/// shapes of well-known credentials, whoever they belong to. A clone shares what is learned, at
/// any time and from any thread.
///
/// A learned value is found as it is, and
///
/// - in base64, both alphabets, with and without padding, also inside a longer text;
/// - in hexadecimal, in capitals or small letters;
/// - and all these escaped as in JSON or program text, percent-encoded, or encoded as a form,
///   wholly or in part, once or twice over, and escaped three times;
///
/// and so is each of its lines of eight bytes or more, and the credential in it where it has a
/// known shape: the token behind `Bearer`, the password of an address. Values that overlap or touch
/// are replaced as one. The end of a value whose beginning was cut off is not found, nor is base64
/// that was broken into lines.
///
/// Redacting a text twice is the same as redacting it once.
///
/// The values stay in memory as long as the redactor; they are overwritten when the last clone
/// goes. Twelve bytes of each form of a value are kept for the search and are not overwritten.
///
/// ```
/// use openclaw_secrets::{Learned, Redactor, Secret};
///
/// let redactor = Redactor::new();
/// assert_eq!(redactor.learn(&Secret::new("hunter2")), Learned::Added);
/// assert_eq!(redactor.redact("login: hunter2"), "login: [REDACTED]");
/// assert_eq!(redactor.redact("Basic YWRtaW46aHVudGVyMg=="), "Basic [REDACTED]");
/// ```
#[derive(Clone, Default)]
pub struct Redactor {
    // Readers take the `Arc` and let go of the lock, so nobody waits for a long text. A writer
    // changes the index in place unless a reader holds it, in which case it changes a copy.
    index: Arc<RwLock<Arc<Index>>>,
}

/// What became of a value given to [`Redactor::learn`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a value that was not learned will appear in logs, of which someone should be warned"]
pub enum Learned {
    /// It is hidden from now on.
    Added,
    /// It was hidden before.
    AlreadyKnown,
    /// It is not hidden: white space aside, it has fewer than six bytes, and every text would be
    /// full of it.
    TooShort,
    /// It is not hidden: it is an everyday word (`password`, `localhost`), a number of up to eight
    /// digits, of fewer than three different bytes, or a part of the marker itself.
    CommonWord,
    /// Only its first 64 KiB are hidden from now on.
    TooLong,
}

impl Redactor {
    /// Makes a redactor that knows only the shapes of credentials.
    pub fn new() -> Self {
        Self::default()
    }

    /// Learns a value, so that it is hidden in every text from now on.
    ///
    /// Some values cannot be hidden; the answer says so.
    pub fn learn(&self, secret: &Secret) -> Learned {
        let text = secret.expose().trim();
        if text.len() < SHORTEST_VALUE {
            return Learned::TooShort;
        }
        if is_common_word(text) || REDACTED.contains(text) {
            return Learned::CommonWord;
        }
        let kept = text.floor_char_boundary(LONGEST_VALUE);
        let is_new = self.insert(text.get(..kept).unwrap_or_default());
        match (kept < text.len(), is_new) {
            (true, _) => Learned::TooLong,
            (false, true) => Learned::Added,
            (false, false) => Learned::AlreadyKnown,
        }
    }

    /// Forgets a value that opens nothing any longer: a process that renews its tokens for weeks would
    /// else learn without end. Says whether it was known.
    pub fn forget(&self, secret: &Secret) -> bool {
        let text = secret.expose().trim();
        let kept = text.floor_char_boundary(LONGEST_VALUE);
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        match index.without(text.get(..kept).unwrap_or_default()) {
            Some(rest) => {
                *index = Arc::new(rest);
                true
            }
            None => false,
        }
    }

    /// Replaces all learned values, and all that has the shape of a credential.
    ///
    /// This is for logs and errors, which are shortened on their way: where a text ends or has an
    /// ellipsis, eight bytes of the beginning of a value are enough.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        into_text(text, self.apply(text.as_bytes(), Scope::Everything))
    }

    /// Replaces all learned values and leaves what merely looks like a credential.
    ///
    /// This is for what a model reads: a tool's result must not carry our secrets, but may well
    /// be a program with examples of keys in it. Values count as a whole here: what shows that a
    /// text ends like one of our values begins would help somebody to guess the rest.
    pub fn redact_learned<'a>(&self, text: &'a str) -> Cow<'a, str> {
        into_text(text, self.apply(text.as_bytes(), Scope::Learned))
    }

    /// Does what [`Redactor::redact`] does to bytes that need not be UTF-8.
    pub fn redact_bytes<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        self.apply(text, Scope::Everything)
            .map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Returns the redacted text if it differs.
    fn apply(&self, text: &[u8], scope: Scope) -> Option<Vec<u8>> {
        let index = self.index();
        let mut redacted = pass(&index, text, scope)?;
        // A replacement can make a match of what stands around it.
        for _ in 1..MOST_PASSES {
            match pass(&index, &redacted, scope) {
                Some(next) => redacted = next,
                None => break,
            }
        }
        Some(redacted)
    }

    fn index(&self) -> Arc<Index> {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&index)
    }

    /// Adds a value; says whether it is new.
    fn insert(&self, value: &str) -> bool {
        // Asked before the lock is taken, since changing the index may mean to copy it.
        if self.index().contains(value) {
            return false;
        }
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut index).insert(value)
    }
}

/// Tells how many values are known, and nothing about them.
impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Redactor")
            .field("learned", &self.index().len())
            .finish()
    }
}

/// What is replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Learned,
    Everything,
}

fn into_text(text: &str, redacted: Option<Vec<u8>>) -> Cow<'_, str> {
    redacted.map_or(Cow::Borrowed(text), |bytes| {
        // Whole characters are replaced by ASCII, so this is UTF-8; a hole is safer than a panic.
        Cow::Owned(
            String::from_utf8(bytes)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        )
    })
}

/// Replaces once; returns the new text if it differs.
fn pass(index: &Index, text: &[u8], scope: Scope) -> Option<Vec<u8>> {
    let mut hits = index.find(text, scope == Scope::Everything);
    if scope == Scope::Everything {
        shapes::find(text, &mut hits);
    }
    if hits.is_empty() {
        return None;
    }
    // Markers count as hits, so that what overlaps or touches one is merged with it.
    hits.extend(markers(text));
    let hits = merged(hits);
    if hits
        .iter()
        .all(|hit| text.get(hit.clone()) == Some(REDACTED.as_bytes()))
    {
        return None;
    }
    Some(replaced(text, &hits))
}

fn markers(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    text.windows(REDACTED.len())
        .enumerate()
        .filter(|(_, window)| *window == REDACTED.as_bytes())
        .map(|(start, window)| start..start + window.len())
}

/// Sorts ranges and joins those that overlap or touch.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, kept| {
        let joins = next.start <= kept.end;
        if joins {
            kept.end = kept.end.max(next.end);
        }
        joins
    });
    ranges
}

fn replaced(text: &[u8], hits: &[Range<usize>]) -> Vec<u8> {
    let mut output = Vec::with_capacity(text.len());
    let mut copied = 0;
    for hit in hits {
        output.extend_from_slice(text.get(copied..hit.start).unwrap_or_default());
        output.extend_from_slice(REDACTED.as_bytes());
        copied = hit.end;
    }
    output.extend_from_slice(text.get(copied..).unwrap_or_default());
    output
}

#[cfg(test)]
mod tests;
