//! The learned values and the search for them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::decoded::Layer;
use super::forms::{Encoded, Form};
use super::fragments::{PIECE, fragments};
use crate::plain::is_common_word;
use crate::secret::Secret;

/// The number of bytes by which a needle is looked up.
///
/// No value that is learned is shorter, in any form.
const WINDOW: usize = 6;

/// The most needles that one window may lead to.
///
/// More than one is rare: it takes values in which nothing is different from the others, such as
/// `abcabcabc` in many lengths. Without a limit a text of these would be searched for ever.
const CROWD: usize = 8;

/// So much of the beginning of a value that was cut off is hidden; less may be anything.
const SHORTEST_CUT: usize = 8;

/// What a private key in a text begins with.
const FRAME: &[u8] = b"-----BEGIN ";

/// The most needles that are remembered by the same beginning.
const MOST_ALIKE: usize = 64;

/// What says that a text was cut off.
const ELLIPSIS: &[u8] = "…".as_bytes();
/// The same on a typewriter.
const DOTS: &[u8] = b"...";

/// The longest needle in any form: a piece of a value, two digits for each byte.
const LONGEST_NEEDLE: usize = 2 * (PIECE + 3);

/// The longest encoded character, such as `\\u{1d11e}`.
const LONGEST_ESCAPE: usize = 9;

/// How many layers of encoding are undone: JSON in JSON, an address in an address. The last one is
/// for escapes alone: a log line in JSON may quote JSON that holds JSON.
const LAYERS: usize = 3;

/// All learned values, by a few bytes of what has to be found.
///
/// A text is searched place by place: the map knows the few windows that matter, and there a
/// candidate is compared as a whole. In contrast to an automaton of all forms this learns a value
/// without building everything anew, and it keeps no copy of the values but six bytes of each
/// form, which matters to a process that learns new access tokens for weeks.
#[derive(Clone, Default)]
pub(super) struct Index {
    values: Vec<Arc<Secret>>,
    needles: Needles,
    /// The same needles, by the bytes that they begin with: of one that was cut off, nothing else
    /// may be left.
    beginnings: Needles,
}

type Needles = HashMap<Window, Vec<Needle>, BuildHasherDefault<WindowHasher>>;

/// One fragment of a value in one form.
#[derive(Clone)]
struct Needle {
    value: Arc<Secret>,
    fragment: Range<usize>,
    form: Form,
    /// The length of the fragment in this form.
    length: usize,
    /// Where in it the window begins by which it is looked up.
    window: usize,
}

impl Index {
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn contains(&self, value: &str) -> bool {
        self.values.iter().any(|known| known.expose() == value)
    }

    /// Adds a value; says whether it is new.
    pub(super) fn insert(&mut self, value: &str) -> bool {
        if self.contains(value) {
            return false;
        }
        let value = Arc::new(Secret::new(value));
        for fragment in fragments(value.expose()) {
            let part = value.expose().get(fragment.clone()).unwrap_or_default();
            // The two alphabets of base64 agree on most values.
            let mut seen: Vec<Encoded> = Vec::new();
            for form in Form::ALL {
                let encoded = form.encode(part);
                if !seen.contains(&encoded) {
                    let needle = Needle {
                        value: Arc::clone(&value),
                        fragment: fragment.clone(),
                        form,
                        length: encoded.len(),
                        window: 0,
                    };
                    self.insert_needle(needle, &encoded);
                    seen.push(encoded);
                }
            }
        }
        self.values.push(value);
        true
    }

    /// The same without a value, if it was there. All is learned anew: values that share lines share
    /// what is looked for.
    pub(super) fn without(&self, value: &str) -> Option<Self> {
        if !self.contains(value) {
            return None;
        }
        let mut rest = Self::default();
        for known in self.values.iter().filter(|known| known.expose() != value) {
            rest.insert(known.expose());
        }
        Some(rest)
    }

    /// Adds a needle under the window that it shares with the fewest others, and under the one that
    /// it begins with.
    fn insert_needle(&mut self, mut needle: Needle, encoded: &[u8]) {
        let mut rarest = None;
        let mut fewest = CROWD;
        // The last window first: credentials of one kind begin alike.
        for (start, bytes) in encoded.array_windows().enumerate().rev() {
            let window = Window::new(*bytes);
            let others = self.needles.get(&window).map_or(&[][..], Vec::as_slice);
            // Values can share lines. No window becomes free again, so the same needle is met
            // here before a window that is.
            if others.iter().any(|other| other.is_same(&needle)) {
                return;
            }
            if others.len() < fewest {
                fewest = others.len();
                rarest = Some((start, window));
            }
            if fewest == 0 {
                break;
            }
        }
        if let Some((start, window)) = rarest {
            if let Some(first) = encoded.first_chunk() {
                let window = Window::new(*first);
                let alike = self.beginnings.get(&window).map_or(0, Vec::len);
                // Tokens of one kind begin alike, and a process may see thousands of them.
                if alike < MOST_ALIKE {
                    insert(&mut self.beginnings, window, needle.clone());
                }
            }
            needle.window = start;
            insert(&mut self.needles, window, needle);
        }
    }

    /// Returns the places of all learned values, in all forms, and with `cut_off` also of the
    /// beginnings of those that were cut off. They may overlap.
    pub(super) fn find(&self, text: &[u8], cut_off: bool) -> Vec<Range<usize>> {
        if self.values.is_empty() {
            return Vec::new();
        }
        self.find_below(text, LAYERS, cut_off)
    }

    /// Searches a text and what it reads like with up to a number of layers undone.
    fn find_below(&self, text: &[u8], layers: usize, cut_off: bool) -> Vec<Range<usize>> {
        let mut hits = Vec::new();
        for (start, bytes) in text.array_windows().enumerate() {
            if let Some(needles) = self.needles.get(&Window::new(*bytes)) {
                hits.extend(needles.iter().filter_map(|needle| needle.find(text, start)));
            }
        }
        if cut_off {
            for cut in cuts(text) {
                self.find_cut_off(text, cut, &mut hits);
            }
        }
        if let Some(layers) = layers.checked_sub(1) {
            let of_last = |layer: &Layer| layers > 0 || *layer == Layer::Escapes;
            for layer in Layer::ALL.into_iter().filter(of_last) {
                let Some(decoded) = layer.undo(text) else {
                    continue;
                };
                let mut found = self.find_below(&decoded, layers, cut_off);
                if !found.is_empty() {
                    layer.locate(text, &mut found);
                    hits.append(&mut found);
                }
            }
        }
        hits
    }
}

impl Index {
    /// Finds what is left of a needle of which the end was cut off at `cut`.
    fn find_cut_off(&self, text: &[u8], cut: Cut, hits: &mut Vec<Range<usize>>) {
        let Some(left) = text.get(cut.from..cut.at) else {
            return;
        };
        for (start, bytes) in left.array_windows().enumerate() {
            let Some(needles) = self.beginnings.get(&Window::new(*bytes)) else {
                continue;
            };
            let rest = left.get(start..).unwrap_or_default();
            if !is_telling(rest) {
                continue;
            }
            if needles.iter().any(|needle| needle.begins_with(rest)) {
                hits.push(cut.from + start..cut.at);
            }
        }
    }
}

/// A place where a text may have been cut off, and from where on it is looked at.
#[derive(Clone, Copy)]
struct Cut {
    from: usize,
    at: usize,
}

/// The places where a text may have been cut off: its end, and wherever an ellipsis says so. An
/// encoded character that is not whole does not count as text.
fn cuts(text: &[u8]) -> impl Iterator<Item = Cut> {
    let mut ellipses: Vec<usize> = memchr::memmem::find_iter(text, ELLIPSIS).collect();
    ellipses.extend(memchr::memmem::find_iter(text, DOTS));
    ellipses.sort_unstable();
    let mut before = 0;
    ellipses
        .into_iter()
        .chain([text.len()])
        .flat_map(move |at| {
            // What was looked at for one place is not looked at again for the next.
            let from = at.saturating_sub(LONGEST_NEEDLE).max(before);
            before = at;
            let last = text
                .get(at.saturating_sub(LONGEST_ESCAPE)..at)
                .unwrap_or_default();
            let open = last.iter().rposition(|byte| matches!(byte, b'\\' | b'%'));
            let open = open.map(|place| at - (last.len() - place));
            let cut = |at| Cut { from, at };
            [Some(cut(at)), open.map(cut)].into_iter().flatten()
        })
}

/// Whether the beginning of a value tells something about it.
fn is_telling(beginning: &[u8]) -> bool {
    // The frame that a key begins with is no secret.
    let is_frame = beginning.starts_with(FRAME) && !beginning.contains(&b'\n');
    let is_scheme = beginning.ends_with(b"://");
    let is_word = str::from_utf8(beginning).is_ok_and(is_common_word);
    beginning.len() >= SHORTEST_CUT && !is_frame && !is_scheme && !is_word
}

/// Adds a needle under a window.
fn insert(needles: &mut Needles, window: Window, needle: Needle) {
    let needles = needles.entry(window).or_default();
    // Nearly every window has one needle, and there are many of them.
    needles.reserve_exact(1);
    needles.push(needle);
}

impl Needle {
    /// Whether a text is the beginning of the needle, and not all of it.
    fn begins_with(&self, text: &[u8]) -> bool {
        text.len() < self.length && self.form.begins_with(self.text(), text)
    }

    fn text(&self) -> &str {
        let value = self.value.expose();
        value.get(self.fragment.clone()).unwrap_or_default()
    }

    /// Returns the place of the needle if its window begins at `at`.
    fn find(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let start = at.checked_sub(self.window)?;
        let found = start..start + self.length;
        let value = self.text();
        self.form
            .is(value, text.get(found.clone())?)
            .then(|| self.form.widen(value, text, found))
    }

    fn is_same(&self, other: &Self) -> bool {
        self.form == other.form && self.text() == other.text()
    }
}

/// The bytes of a window as a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Window(u64);

impl Window {
    fn new([first, second, third, fourth, fifth, sixth]: [u8; WINDOW]) -> Self {
        Self(u64::from_le_bytes([
            first, second, third, fourth, fifth, sixth, 0, 0,
        ]))
    }
}

/// One multiplication, since there is a look-up for every byte of every text.
#[derive(Clone, Copy, Default)]
struct WindowHasher(u64);

impl Hasher for WindowHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(self.0 ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // Multiplication by 2^64 divided by the golden ratio spreads neighbours far apart (Knuth,
        // volume 3, §6.4), best in the high bits; the map takes the low ones.
        self.0 = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_window_leads_to_many_needles() {
        let mut index = Index::default();
        // The pieces of a long value that differ in one byte, and lines without any difference.
        let piece = |byte| format!("{byte}{}", "0123456789".repeat(25));
        let long: String = ('0'..='z').map(piece).collect();
        let lines: String = (6..250)
            .map(|length| format!("{}\n", &"abc".repeat(90)[..length]))
            .collect();
        assert!(index.insert(&long));
        assert!(index.insert(&lines));
        let most = index.needles.values().map(Vec::len).max().unwrap();
        assert!(most <= CROWD, "{most}");
        for text in [&long, &lines] {
            let mut hidden = vec![false; text.len()];
            for hit in index.find(text.as_bytes(), false) {
                hidden[hit].fill(true);
            }
            assert!(hidden.into_iter().all(|hidden| hidden));
        }
    }
}
