//! The learned values and the search for them.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::filter::{Filter, WINDOW, Window};
use super::forms::{Encoded, Form};
use super::fragments::fragments;
use crate::secret::Secret;

/// A learned value, shared by all that is looked for because of it.
#[derive(Clone, PartialEq, Eq)]
struct Value(Arc<Secret>);

impl Borrow<str> for Value {
    fn borrow(&self) -> &str {
        self.0.expose()
    }
}

/// Like the hash of its text, as `Borrow` demands.
impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.expose().hash(state);
    }
}

/// One fragment of a value in one form.
#[derive(Clone)]
struct Needle {
    value: Value,
    fragment: Range<usize>,
    form: Form,
    /// The length of the fragment in this form.
    length: usize,
    /// Where in it the window ends by which it is looked up.
    window_end: usize,
}

/// All that has to be found for the sake of one value; made outside of any lock.
pub(super) struct Entry {
    value: Value,
    /// Each needle with the windows by which it can be looked up, and where they end.
    needles: Vec<(Needle, Vec<(Window, usize)>)>,
}

/// All learned values, by a few bytes of what has to be found.
///
/// A text is searched place by place: the filter rules out nearly all of them, the map knows the
/// rest, and a candidate is compared as a whole. In contrast to an automaton of all forms this
/// learns a value without building everything anew, and it keeps no copy of the values but six
/// bytes of each form, which matters to a process that learns new access tokens for weeks.
#[derive(Clone, Default)]
pub(super) struct Index {
    values: HashSet<Value>,
    needles: HashMap<Window, Vec<Needle>>,
    filter: Filter,
}

impl Entry {
    pub(super) fn new(value: &str) -> Self {
        let value = Value(Arc::new(Secret::new(value)));
        let mut needles = Vec::new();
        let text = value.0.expose();
        for fragment in fragments(text) {
            let part = text.get(fragment.clone()).unwrap_or_default();
            // Most forms of most values are equal to others.
            let mut seen: Vec<Encoded> = Vec::new();
            for form in Form::all() {
                let encoded = form.encode(part);
                if seen.contains(&encoded) {
                    continue;
                }
                let needle = Needle {
                    value: value.clone(),
                    fragment: fragment.clone(),
                    form,
                    length: encoded.len(),
                    window_end: encoded.len(),
                };
                needles.push((needle, windows(&encoded)));
                seen.push(encoded);
            }
        }
        Self { value, needles }
    }
}

/// Chooses windows of a text, the last bytes first: credentials of one kind begin alike.
fn windows(text: &[u8]) -> Vec<(Window, usize)> {
    let length = text.len();
    [length, length / 4 * 3, length / 2, length / 4]
        .into_iter()
        .filter_map(|end| Some((Window::ending_at(text, end)?, end)))
        .collect()
}

impl Needle {
    fn text(&self) -> &str {
        self.value
            .0
            .expose()
            .get(self.fragment.clone())
            .unwrap_or_default()
    }

    /// Returns the place of the needle if its window ends at `end`.
    fn find(&self, text: &[u8], end: usize) -> Option<Range<usize>> {
        let start = end.checked_sub(self.window_end)?;
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

impl Index {
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn contains(&self, value: &str) -> bool {
        self.values.contains(value)
    }

    /// Adds a value; says whether it is new.
    pub(super) fn insert(&mut self, entry: Entry) -> bool {
        if !self.values.insert(entry.value) {
            return false;
        }
        for (mut needle, windows) in entry.needles {
            // The window that fewest others share, so that no place of a text has many candidates.
            let others = |window| self.needles.get(window).map_or(0, Vec::len);
            let rarest = windows.iter().min_by_key(|(window, _)| others(window));
            let Some(&(window, window_end)) = rarest else {
                continue;
            };
            needle.window_end = window_end;
            let needles = self.needles.entry(window).or_default();
            // Values can share lines.
            if !needles.iter().any(|known| known.is_same(&needle)) {
                // Nearly every window has one needle, and there are many of them.
                if needles.is_empty() {
                    needles.reserve_exact(1);
                }
                needles.push(needle);
            }
            self.filter.insert(window);
        }
        if !self.filter.has_room_for(self.needles.len()) {
            // Twice the room, so that the work of growing stays proportional to what is learned.
            self.filter = Filter::with_capacity(self.needles.len() * 2);
            for &window in self.needles.keys() {
                self.filter.insert(window);
            }
        }
        true
    }

    /// Adds the places of all learned values, in all forms, to `hits`. They may overlap.
    pub(super) fn find(&self, text: &[u8], hits: &mut Vec<Range<usize>>) {
        if self.values.is_empty() {
            return;
        }
        for (start, bytes) in text.array_windows::<WINDOW>().enumerate() {
            let window = Window::new(*bytes);
            if self.filter.may_contain(window) {
                let needles = self.needles.get(&window).into_iter().flatten();
                hits.extend(needles.filter_map(|needle| needle.find(text, start + WINDOW)));
            }
        }
    }
}
