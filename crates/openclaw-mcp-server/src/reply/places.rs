//! Where texts stand in a longer one: many are looked for in one pass.
//!
//! Of each text, one run of eight bytes is chosen that is rare in the longer one; only where such a run
//! stands is the text compared. So a thousand texts cost about as much as one, and texts that are much
//! alike (results of the same tool) are told apart by what is their own.

/// How many bytes a run has; a text that is shorter is its own run.
const RUN: usize = 8;
/// How many runs of a text are looked at for a rare one.
const LOOKED_AT: usize = 256;
/// How many bits the place of a run in a table has at most.
const BITS: u32 = 18;
/// Where a chain ends.
const NONE: usize = usize::MAX;

/// Where each text begins the last time that it stands in the long one, of the places that count: those
/// are told by where they begin and end.
///
/// An empty text stands nowhere.
pub(super) fn last_places(
    texts: &[&[u8]],
    long: &[u8],
    counts_at: impl Fn(usize, usize) -> bool,
) -> Vec<Option<usize>> {
    let mut places = vec![None; texts.len()];
    let slots = Slots::for_runs(long.len());
    for size in 1..=RUN {
        let mut search = Search::new(size, slots);
        let mut counts = None;
        for (index, text) in texts.iter().enumerate() {
            if text.len().min(RUN) == size {
                // Texts that are runs themselves leave no choice.
                let counts = (size == RUN)
                    .then(|| &**counts.get_or_insert_with(|| count(long, size, slots)));
                search.add(index, text, counts);
            }
        }
        search.run(long, &counts_at, &mut places);
    }
    places
}

/// A text that is looked for.
struct Sought<'t> {
    text: &'t [u8],
    /// Its run, and where that stands in it.
    run: u64,
    offset: usize,
    /// Which of the texts are the same as this one.
    indices: Vec<usize>,
    /// The next one with a run at the same place of the table.
    next: usize,
}

impl Sought<'_> {
    fn stands_at(&self, begins: usize, long: &[u8]) -> bool {
        let end = begins.saturating_add(self.text.len());
        let tail = self.text.len().saturating_sub(RUN);
        let tail = self.text.get(tail..).unwrap_or_default();
        // The end first: texts that are all the same letter differ only there.
        long.get(begins..end)
            .is_some_and(|there| there.ends_with(tail) && there == self.text)
    }
}

/// A search for texts with runs of one size.
struct Search<'t> {
    size: usize,
    slots: Slots,
    sought: Vec<Sought<'t>>,
    /// For each place of the table, the first text whose run belongs there.
    heads: Vec<usize>,
}

impl<'t> Search<'t> {
    fn new(size: usize, slots: Slots) -> Self {
        Self {
            size,
            slots,
            sought: Vec::new(),
            heads: Vec::new(),
        }
    }

    /// Looks for a text, too.
    fn add(&mut self, index: usize, text: &'t [u8], counts: Option<&[u32]>) {
        if self.heads.is_empty() {
            self.heads = vec![NONE; self.slots.count()];
        }
        let (offset, run) = rare_run(text, self.size, self.slots, counts);
        let Some(head) = self.heads.get_mut(self.slots.of(run)) else {
            return;
        };
        let mut at = *head;
        while let Some(sought) = self.sought.get_mut(at) {
            // The same text has the same rare run.
            if sought.text == text {
                sought.indices.push(index);
                return;
            }
            at = sought.next;
        }
        let next = std::mem::replace(head, self.sought.len());
        self.sought.push(Sought {
            text,
            run,
            offset,
            indices: vec![index],
            next,
        });
    }

    /// Goes through the long text from its end, so that the first place that is found is the last.
    fn run(
        mut self,
        long: &[u8],
        counts_at: &impl Fn(usize, usize) -> bool,
        places: &mut [Option<usize>],
    ) {
        let mut left = self.sought.len();
        if left == 0 {
            return;
        }
        each_run(long, self.size, |at, run| {
            let slot = self.slots.of(run);
            let mut before = NONE;
            let mut current = self.heads.get(slot).copied().unwrap_or(NONE);
            while let Some(sought) = self.sought.get(current) {
                let next = sought.next;
                let begins = at
                    .checked_sub(sought.offset)
                    .filter(|begins| sought.run == run && sought.stands_at(*begins, long))
                    .filter(|begins| counts_at(*begins, begins + sought.text.len()));
                if let Some(begins) = begins {
                    for index in &sought.indices {
                        if let Some(place) = places.get_mut(*index) {
                            *place = Some(begins);
                        }
                    }
                    // Found for good: nobody stumbles over it again.
                    left -= 1;
                    if let Some(before) = self.sought.get_mut(before) {
                        before.next = next;
                    } else if let Some(head) = self.heads.get_mut(slot) {
                        *head = next;
                    }
                } else {
                    before = current;
                }
                current = next;
            }
            left > 0
        });
    }
}

/// How often runs stand in a text, by their place in the table.
fn count(long: &[u8], size: usize, slots: Slots) -> Vec<u32> {
    let mut counts = vec![0_u32; slots.count()];
    each_run(long, size, |_, run| {
        if let Some(count) = counts.get_mut(slots.of(run)) {
            *count = count.saturating_add(1);
        }
        true
    });
    counts
}

/// A run of a text that is rare, as far as counts say which are, and where it stands.
fn rare_run(text: &[u8], size: usize, slots: Slots, counts: Option<&[u32]>) -> (usize, u64) {
    let step = (text.len() / LOOKED_AT).max(1);
    let runs = text.windows(size).enumerate().step_by(step);
    let runs = runs.map(|(at, run)| (at, value(run)));
    let rarity = |run: u64| counts.and_then(|counts| counts.get(slots.of(run)).copied());
    runs.min_by_key(|(_, run)| rarity(*run)).unwrap_or_default()
}

/// Tells of each run of a text, from its end, until there is no more to tell.
fn each_run(text: &[u8], size: usize, mut tell: impl FnMut(usize, u64) -> bool) {
    let top = 8 * (size - 1);
    let mut run = 0_u64;
    let mut at = text.len();
    for byte in text.iter().rev() {
        at -= 1;
        run = (run >> 8) | (u64::from(*byte) << top);
        if text.len() - at >= size && !tell(at, run) {
            return;
        }
    }
}

/// A run as a number, the first byte on top.
fn value(run: &[u8]) -> u64 {
    let shifted = |value, byte: &u8| (value << 8) | u64::from(*byte);
    run.iter().fold(0, shifted)
}

/// The places of a table for runs.
#[derive(Clone, Copy)]
struct Slots {
    bits: u32,
}

impl Slots {
    /// A table for about so many runs, within bounds.
    fn for_runs(runs: usize) -> Self {
        let bits = usize::BITS - runs.leading_zeros();
        Self {
            bits: bits.clamp(1, BITS),
        }
    }

    fn count(self) -> usize {
        1 << self.bits
    }

    /// The place of a run.
    fn of(self, run: u64) -> usize {
        let mixed = run.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - self.bits);
        usize::try_from(mixed).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same, one by one.
    fn plainly(texts: &[&[u8]], long: &[u8]) -> Vec<Option<usize>> {
        let place = |text: &&[u8]| {
            let mut windows = long.windows(text.len().max(1));
            windows.rposition(|window| window == *text)
        };
        texts.iter().map(place).collect()
    }

    #[test]
    fn the_last_place_counts() {
        let texts: [&[u8]; 5] = [b"abcdefghij", b"ab", b"j", b"", b"abcdefghik"];
        let places = last_places(&texts, b"abcdefghij abcdefghij ab", |_, _| true);
        assert_eq!(places, [Some(11), Some(22), Some(20), None, None]);
    }

    proptest! {
        #[test]
        fn places_are_those_that_looking_one_by_one_finds(
            texts in prop::collection::vec("[ab]{0,20}", 0..12),
            long in "[ab]{0,200}",
            cuts in prop::collection::vec((0..200_usize, 0..40_usize), 0..6),
        ) {
            let long = long.as_bytes();
            let mut texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
            // Texts that do stand there, long ones among them, and some of them twice.
            for (from, length) in cuts {
                let from = from.min(long.len());
                texts.push(&long[from..long.len().min(from + length)]);
            }
            texts.extend(texts.clone().into_iter().take(2));
            prop_assert_eq!(last_places(&texts, long, |_, _| true), plainly(&texts, long));
        }
    }
}
