//! The tools, made ready to be ranked.

use std::collections::HashMap;

use crate::names::Names;
use crate::terms::each_term_of;
use crate::words::each_word;

/// How much of a description counts, in bytes.
const LONGEST_DESCRIPTION: usize = 4096;
/// How much of a name counts, and of a parameter's, in bytes.
const LONGEST_NAME: usize = 256;
/// How many parameters count.
const MOST_PARAMETERS: usize = 256;

/// How soon more of the same term counts no more.
const SATURATION: f32 = 1.2;

/// A part of what is known of a tool.
#[derive(Clone, Copy)]
struct Field {
    /// How much a term in it counts.
    weight: f32,
    /// How much it counts against a term that there are many others.
    length: f32,
}

const NAME: usize = 0;
const PARAMETERS: usize = 1;
const DESCRIPTION: usize = 2;

const FIELDS: [Field; 3] = [
    Field {
        weight: 4.0,
        length: 0.4,
    },
    Field {
        weight: 2.0,
        length: 0.6,
    },
    Field {
        weight: 1.0,
        length: 0.75,
    },
];

/// What is known of a tool.
#[derive(Clone, Copy, Debug, Default)]
pub struct Document<'a> {
    /// Its name, which no other has.
    pub name: &'a str,
    /// What it is called among those of its server, or nothing.
    pub own_name: &'a str,
    /// Other spellings of its name that only it can have.
    pub aliases: &'a [&'a str],
    /// What it does.
    pub description: &'a str,
    /// The names of its parameters.
    pub parameters: &'a [&'a str],
}

/// How much a term says for a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posting {
    pub(crate) place: u32,
    pub(crate) weight: f32,
}

/// Tools that can be ranked.
#[derive(Debug, Default)]
pub struct Index {
    pub(crate) names: Names,
    /// Sorted.
    terms: Vec<Box<str>>,
    /// Where the postings of each term begin, and where those of the last one end.
    begins: Vec<usize>,
    postings: Vec<Posting>,
    documents: usize,
}

/// How often a term is in each field of a tool.
#[derive(Clone, Copy)]
struct Count {
    term: u32,
    place: u32,
    fields: [u16; 3],
}

/// A word that is no term.
const NO_TERM: u32 = u32::MAX;

/// What was read of the tools.
#[derive(Default)]
struct Reading {
    /// The term of each word that was seen, so that its form is found out once.
    words: HashMap<Box<str>, u32>,
    /// The number of each term, in the order in which they came.
    terms: HashMap<Box<str>, u32>,
    /// By tool.
    counts: Vec<Count>,
    /// How many terms each field of each tool has.
    lengths: Vec<[u32; 3]>,
}

impl Index {
    /// Makes tools ready. A tool is known by its place among them afterwards.
    pub fn new(documents: &[Document<'_>]) -> Self {
        let mut reading = Reading::default();
        // The terms of one tool, each with its field.
        let mut terms = Vec::new();
        for (place, document) in (0_u32..).zip(documents) {
            reading.read(place, document, &mut terms);
        }
        let Reading {
            terms,
            counts,
            lengths,
            ..
        } = reading;
        let mut sorted: Vec<(Box<str>, u32)> = terms.into_iter().collect();
        sorted.sort_unstable();
        let averages = averages(&lengths);
        let by_term = by_term(&counts, sorted.len());
        let mut begins = vec![0];
        let mut postings = Vec::with_capacity(counts.len());
        for (_, number) in &sorted {
            let of_term = by_term.of(*number);
            let rarity = rarity(documents.len(), of_term.len());
            postings.extend(of_term.iter().map(|count| {
                let lengths = lengths.get(at(count.place)).copied().unwrap_or_default();
                let often = often(count.fields, lengths, averages);
                let weight = rarity * often / (SATURATION + often);
                let place = count.place;
                Posting { place, weight }
            }));
            begins.push(postings.len());
        }
        Self {
            names: Names::new(documents),
            terms: sorted.into_iter().map(|(term, _)| term).collect(),
            begins,
            postings,
            documents: documents.len(),
        }
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// What a term says, in the order of the tools.
    pub(crate) fn postings(&self, term: &str) -> &[Posting] {
        let found = self.terms.binary_search_by(|known| (**known).cmp(term));
        let range = found.ok().and_then(|at| {
            let begin = *self.begins.get(at)?;
            let end = *self.begins.get(at + 1)?;
            self.postings.get(begin..end)
        });
        range.unwrap_or_default()
    }
}

impl Reading {
    fn read(&mut self, place: u32, document: &Document<'_>, terms: &mut Vec<(u32, usize)>) {
        terms.clear();
        self.read_text(document.name, LONGEST_NAME, NAME, terms);
        self.read_text(
            document.description,
            LONGEST_DESCRIPTION,
            DESCRIPTION,
            terms,
        );
        for parameter in document.parameters.iter().take(MOST_PARAMETERS) {
            self.read_text(parameter, LONGEST_NAME, PARAMETERS, terms);
        }
        let mut lengths = [0; 3];
        terms.sort_unstable();
        for of_term in terms.chunk_by(|one, other| one.0 == other.0) {
            let mut fields = [0_u16; 3];
            for (_, field) in of_term {
                fields[*field] = fields[*field].saturating_add(1);
                lengths[*field] += 1;
            }
            let term = of_term.first().map_or(NO_TERM, |(term, _)| *term);
            self.counts.push(Count {
                term,
                place,
                fields,
            });
        }
        self.lengths.push(lengths);
    }

    fn read_text(&mut self, text: &str, most: usize, field: usize, into: &mut Vec<(u32, usize)>) {
        let text = text
            .get(..text.floor_char_boundary(most))
            .unwrap_or_default();
        each_word(text, |word, _, _| {
            if let Some(term) = self.words.get(word) {
                if *term != NO_TERM {
                    into.push((*term, field));
                }
                return;
            }
            let before = into.len();
            each_term_of(word, &mut |term: &str| {
                let next = u32::try_from(self.terms.len()).unwrap_or(NO_TERM);
                let number = match self.terms.get(term) {
                    Some(number) => *number,
                    None => *self.terms.entry(term.into()).or_insert(next),
                };
                into.push((number, field));
            });
            // A run without spaces has several terms and is not met again.
            let found = into.get(before..).unwrap_or_default();
            if let [] | [_] = found {
                let term = found.first().map_or(NO_TERM, |(term, _)| *term);
                self.words.insert(word.into(), term);
            }
        });
    }
}

/// The counts of each term, in the order of the tools.
struct ByTerm {
    begins: Vec<usize>,
    counts: Vec<Count>,
}

impl ByTerm {
    fn of(&self, term: u32) -> &[Count] {
        let term = at(term);
        let range = self.begins.get(term).zip(self.begins.get(term + 1));
        let counts = range.and_then(|(begin, end)| self.counts.get(*begin..*end));
        counts.unwrap_or_default()
    }
}

/// Puts the counts of each term together; they come by tool, and stay in that order.
fn by_term(counts: &[Count], terms: usize) -> ByTerm {
    let mut begins = vec![0_usize; terms + 1];
    for count in counts {
        if let Some(slot) = begins.get_mut(at(count.term) + 1) {
            *slot += 1;
        }
    }
    let mut sum = 0;
    for slot in &mut begins {
        sum += *slot;
        *slot = sum;
    }
    let mut next = begins.clone();
    let mut placed = counts.to_vec();
    for count in counts {
        if let Some(slot) = next.get_mut(at(count.term)) {
            if let Some(place) = placed.get_mut(*slot) {
                *place = *count;
            }
            *slot += 1;
        }
    }
    ByTerm {
        begins,
        counts: placed,
    }
}

fn at(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// How much a term says that so many of all tools have.
#[expect(
    clippy::cast_precision_loss,
    reason = "there are fewer tools than a float of this kind counts exactly"
)]
fn rarity(all: usize, with: usize) -> f32 {
    let (all, with) = (all as f32, with as f32);
    ((all - with + 0.5) / (with + 0.5)).ln_1p()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an average need not be exact to the last term"
)]
fn averages(lengths: &[[u32; 3]]) -> [f32; 3] {
    let mut sums = [0_u64; 3];
    for of_tool in lengths {
        for (sum, length) in sums.iter_mut().zip(of_tool) {
            *sum += u64::from(*length);
        }
    }
    sums.map(|sum| (sum as f32 / lengths.len().max(1) as f32).max(1.0))
}

/// How often a term is in a tool, by where it is, and by how long that is.
#[expect(
    clippy::cast_precision_loss,
    reason = "texts are cut long before a length is inexact"
)]
fn often(counts: [u16; 3], lengths: [u32; 3], averages: [f32; 3]) -> f32 {
    let mut sum = 0.0;
    for (at, field) in FIELDS.iter().enumerate() {
        let length = lengths[at] as f32 / averages[at];
        let normal = 1.0 - field.length + field.length * length;
        sum += field.weight * f32::from(counts[at]) / normal.max(0.05);
    }
    sum
}
