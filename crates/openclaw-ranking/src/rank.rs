//! Which tools fit a text, and how well.

use std::cmp::Ordering;
use std::collections::HashSet;

use crate::index::{Index, Posting};
use crate::names::Found;
use crate::related::related;
use crate::terms::each_term;

/// How much of a text counts, in bytes.
const LONGEST_TEXT: usize = 64 * 1024;
/// How much a word counts that only stands for one of the text.
const RELATED: f32 = 0.5;

/// Where a text says a name, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// Where the name begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// A tool and how well it fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// Its place among the tools that the index was made of.
    pub place: usize,
    /// How well it fits, above 0; only comparable within one answer.
    pub score: f32,
    /// How much of the text it has to do with: of the terms, from 0 (none) to 1 (all).
    pub share: f32,
    /// Where the text says its name, if it does.
    pub named: Option<Named>,
}

impl Ranked {
    /// Whether the text says its name.
    pub fn is_named(&self) -> bool {
        self.named.is_some()
    }
}

/// The tools that fit a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// The best of them, best first.
    pub best: Vec<Ranked>,
    /// How many fit, those beyond the limit included.
    pub fitting: usize,
}

/// What is known of a tool while it is ranked.
#[derive(Clone, Copy, Default)]
struct Tally {
    score: f32,
    share: f32,
    /// The last term that counted, so that none counts twice.
    term: u32,
}

impl Index {
    /// The tools that fit a text best, best first, at most so many. Only the beginning of a long
    /// text counts. Tools that the text names come first: the surest, then the earliest.
    pub fn rank(&self, text: &str, limit: usize) -> Vec<Ranked> {
        self.rank_all(text, limit).best
    }

    /// The same, and how many tools fit at all.
    pub fn rank_all(&self, text: &str, limit: usize) -> Ranking {
        let text = text
            .get(..text.floor_char_boundary(LONGEST_TEXT))
            .unwrap_or_default();
        let named = self.names.find(text);
        let (tallies, terms) = self.tally(text);
        let mut ranked: Vec<(Ranked, Option<Found>)> = Vec::new();
        for (place, tally) in tallies.iter().enumerate() {
            let found = u32::try_from(place)
                .ok()
                .and_then(|it| named.get(&it))
                .copied();
            if tally.score > 0.0 || found.is_some() {
                let entry = Ranked {
                    place,
                    score: tally.score.max(f32::MIN_POSITIVE),
                    share: tally.share / terms.max(1.0),
                    named: found.map(|found| found.at),
                };
                ranked.push((entry, found));
            }
        }
        let fitting = ranked.len();
        if limit < ranked.len() {
            if limit > 0 {
                ranked.select_nth_unstable_by(limit - 1, compare);
            }
            ranked.truncate(limit);
        }
        ranked.sort_unstable_by(compare);
        Ranking {
            best: ranked.into_iter().map(|(ranked, _)| ranked).collect(),
            fitting,
        }
    }

    /// What each tool has in common with a text, and how many terms that has.
    fn tally(&self, text: &str) -> (Vec<Tally>, f32) {
        let mut tallies = vec![Tally::default(); self.len()];
        let mut seen = HashSet::new();
        let mut number = 0;
        let mut terms = 0.0;
        each_term(text, |term| {
            if seen.contains(term) {
                return;
            }
            seen.insert(Box::<str>::from(term));
            number += 1;
            terms += 1.0;
            count(&mut tallies, self.postings(term), number, 1.0);
            for other in related(term) {
                count(&mut tallies, self.postings(other), number, RELATED);
            }
        });
        (tallies, terms)
    }
}

/// Counts a term, or one that stands for it, for all tools that have it and not the term itself.
fn count(tallies: &mut [Tally], postings: &[Posting], term: u32, factor: f32) {
    for posting in postings {
        let place = usize::try_from(posting.place).unwrap_or(usize::MAX);
        if let Some(tally) = tallies.get_mut(place)
            && tally.term != term
        {
            tally.score += factor * posting.weight;
            tally.share += factor;
            tally.term = term;
        }
    }
}

fn compare(one: &(Ranked, Option<Found>), other: &(Ranked, Option<Found>)) -> Ordering {
    let named = match (&one.1, &other.1) {
        (Some(one), Some(other)) => one.compare(other),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    let by_score = other.0.score.total_cmp(&one.0.score);
    named.then(by_score).then(one.0.place.cmp(&other.0.place))
}
