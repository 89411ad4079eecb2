//! The names of all tools, found in a text.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::index::Document;
use crate::rank::Named;
use crate::terms::is_filler;
use crate::words::each_word;

/// How much of a name counts, in bytes.
const LONGEST_NAME: usize = 256;

/// How surely a text names a tool, the least sure first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    /// By what the tool is called among those of its server.
    Own,
    /// By its name, or another that only it can have.
    Whole,
    /// By its name, letter by letter.
    Verbatim,
}

/// A name that stands in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) certainty: Certainty,
    pub(crate) at: Named,
}

impl Found {
    /// What puts the surest first, then the earliest, then the longest.
    fn order(
        &self,
    ) -> (
        std::cmp::Reverse<Certainty>,
        usize,
        std::cmp::Reverse<usize>,
    ) {
        let end = std::cmp::Reverse(self.at.end);
        (std::cmp::Reverse(self.certainty), self.at.start, end)
    }

    /// Whether it comes before another.
    pub(crate) fn compare(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

/// Whose a name is.
#[derive(Default)]
struct Owners {
    owners: Vec<(u32, Certainty)>,
    is_filler: bool,
}

/// One name, as words, and whose it is.
#[derive(Debug)]
struct Entry {
    words: Box<[u32]>,
    owners: Vec<(u32, Certainty)>,
    /// Whether it is of nothing but words that say nothing: such a name has to stand alone.
    is_filler: bool,
}

/// The names of all tools.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: HashMap<Box<str>, u32>,
    /// In the order of their words.
    entries: Vec<Entry>,
    /// Names as they are spelled, by place.
    spelled: Vec<Box<str>>,
}

/// A word of a text: its number, if any name has it, and where it stands.
struct Spot {
    number: Option<u32>,
    start: usize,
    end: usize,
}

impl Names {
    pub(crate) fn new(documents: &[Document<'_>]) -> Self {
        let mut names = Self::default();
        let mut entries = BTreeMap::<Box<[u32]>, Owners>::new();
        for (place, document) in (0_u32..).zip(documents) {
            names.spelled.push(document.name.into());
            let all = [document.name]
                .into_iter()
                .chain(document.aliases.iter().copied());
            let spellings = all
                .map(|name| (name, Certainty::Whole))
                .chain([(document.own_name, Certainty::Own)]);
            for (spelling, certainty) in spellings {
                let (words, is_filler) = names.numbered(spelling);
                if words.is_empty() {
                    continue;
                }
                let entry = entries.entry(words).or_default();
                entry.is_filler = is_filler;
                if entry.owners.last().is_none_or(|(last, _)| *last != place) {
                    entry.owners.push((place, certainty));
                }
            }
        }
        names.entries = entries
            .into_iter()
            .map(|(words, owners)| Entry {
                words,
                owners: owners.owners,
                is_filler: owners.is_filler,
            })
            .collect();
        names
    }

    /// A name as numbers of words, and whether all of them say nothing.
    fn numbered(&mut self, name: &str) -> (Box<[u32]>, bool) {
        let name = name
            .get(..name.floor_char_boundary(LONGEST_NAME))
            .unwrap_or_default();
        let mut is_empty = true;
        let mut numbers = Vec::new();
        each_word(name, |word, _, _| {
            is_empty &= is_filler(word) || word.len() < 2;
            let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
            let number = match self.numbers.get(word) {
                Some(number) => *number,
                None => *self.numbers.entry(word.into()).or_insert(next),
            };
            numbers.push(number);
        });
        (numbers.into_boxed_slice(), is_empty)
    }

    /// Where a text names which tool, best first for each; at most one for each tool.
    pub(crate) fn find(&self, text: &str) -> HashMap<u32, Found> {
        let mut found: HashMap<u32, Found> = HashMap::new();
        let mut spots = Vec::new();
        each_word(text, |word, start, end| {
            let number = self.numbers.get(word).copied();
            spots.push(Spot { number, start, end });
        });
        // A name that was found counts where it was found first, so that a text that repeats it
        // costs no more than one that does not.
        let mut seen = HashSet::new();
        for at in 0..spots.len() {
            self.each_at(&spots, at, |entry, end| {
                let Some(entry_at) = self.entries.get(entry) else {
                    return;
                };
                if entry_at.is_filler && spots.len() > entry_at.words.len() {
                    return;
                }
                let start = spots.get(at).map_or(0, |spot| spot.start);
                let named = Named { start, end };
                let is_apart = is_apart(text, named);
                if !is_word(text, named) || !seen.insert((entry, is_apart)) {
                    return;
                }
                for (place, certainty) in &entry_at.owners {
                    let is_own = *certainty == Certainty::Own;
                    if is_own && !is_apart {
                        continue;
                    }
                    let verbatim = self.spelled_at(*place, text, named).filter(|_| !is_own);
                    let new = Found {
                        certainty: verbatim.map_or(*certainty, |_| Certainty::Verbatim),
                        at: verbatim.unwrap_or(named),
                    };
                    let best = found.entry(*place).or_insert(new);
                    if new.compare(best).is_lt() {
                        *best = new;
                    }
                }
            });
        }
        found
    }

    /// Hands over each name that begins at a word of a text, and where it ends there.
    fn each_at(&self, spots: &[Spot], at: usize, mut take: impl FnMut(usize, usize)) {
        let (mut low, mut high) = (0, self.entries.len());
        for (length, spot) in spots.get(at..).unwrap_or_default().iter().enumerate() {
            let Some(number) = spot.number else {
                return;
            };
            let range = self.entries.get(low..high).unwrap_or_default();
            // All names in the range have the same words up to here; one may have no more.
            let begin = range
                .partition_point(|entry| entry.words.get(length).is_none_or(|word| *word < number));
            let end = range.partition_point(|entry| {
                entry.words.get(length).is_none_or(|word| *word <= number)
            });
            (low, high) = (low + begin, low + end);
            match self.entries.get(low) {
                Some(first) if low < high => {
                    if first.words.len() == length + 1 {
                        take(low, spot.end);
                    }
                }
                _ => return,
            }
        }
    }

    /// Where a name stands letter by letter whose words stand there: `_4_` is more than its word.
    fn spelled_at(&self, place: u32, text: &str, words: Named) -> Option<Named> {
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        let name = self.spelled.get(place)?;
        let before = name.find(text.get(words.start..words.end)?)?;
        let start = words.start.checked_sub(before)?;
        let end = start + name.len();
        (text.get(start..end)? == &**name).then_some(Named { start, end })
    }
}

/// Whether what stands there is no part of a longer word.
fn is_word(text: &str, at: Named) -> bool {
    !before(text, at).is_some_and(char::is_alphanumeric)
        && !after(text, at).next().is_some_and(char::is_alphanumeric)
}

/// Whether what stands there is no part of a longer name, address or file.
fn is_apart(text: &str, at: Named) -> bool {
    let joins = |character: char| matches!(character, '_' | '-' | '/' | '\\' | '@' | '.');
    let mut following = after(text, at);
    let goes_on = match following.next() {
        Some('.') => following.next().is_some_and(char::is_alphanumeric),
        Some(next) => matches!(next, '_' | '-' | '/' | '\\' | '@'),
        None => false,
    };
    !before(text, at).is_some_and(joins) && !goes_on
}

fn before(text: &str, at: Named) -> Option<char> {
    text.get(..at.start)?.chars().next_back()
}

fn after(text: &str, at: Named) -> std::str::Chars<'_> {
    text.get(at.end..).unwrap_or_default().chars()
}
