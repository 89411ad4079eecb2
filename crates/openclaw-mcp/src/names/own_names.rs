//! Finding what a person writes without looking at all tools.

use super::spelling::LONGEST_AROUND;
use super::table::NamedTool;

/// The places of tools, in the order of the names that their servers give them. Every spelling but the one that
/// models know ends with that name.
#[derive(Debug)]
pub(crate) struct OwnNames {
    places: Vec<usize>,
    /// How long the longest of the names is.
    longest: usize,
    /// How far from its beginning a name can begin in a spelling. Servers choose the names: without this, a
    /// long one would make finding it long.
    latest: usize,
}

impl OwnNames {
    pub(crate) fn new<T>(tools: &[T], named: impl Fn(&T) -> &NamedTool) -> Self {
        let own = |place: &usize| named(&tools[*place]).key.tool.as_str();
        let mut places: Vec<usize> = (0..tools.len()).collect();
        places.sort_unstable_by(|one, other| (own(one), one).cmp(&(own(other), other)));
        let longest = places.iter().map(|place| own(place).len()).max();
        let before = tools.iter().map(|tool| named(tool).longest_server()).max();
        Self {
            longest: longest.unwrap_or(0),
            latest: before.unwrap_or(0) + LONGEST_AROUND,
            places,
        }
    }

    /// The tools whose names stand at the end of a text, behind something that can stand between a server and
    /// its tool; in the order in which they were given.
    pub(crate) fn at_the_end_of<'a, T>(
        &self,
        text: &str,
        tools: &'a [T],
        named: impl Fn(&T) -> &NamedTool,
    ) -> Vec<&'a T> {
        let own = |place: &usize| named(&tools[*place]).key.tool.as_str();
        let mut found: Vec<usize> = Vec::new();
        let starts = text.match_indices(['/', '_']).map(|(at, _)| at + 1);
        for start in starts.take_while(|start| *start <= self.latest) {
            let end = &text[start..];
            if end.len() > self.longest {
                continue;
            }
            let first = self.places.partition_point(|place| own(place) < end);
            let same = self.places[first..].iter();
            found.extend(same.take_while(|place| own(place) == end));
        }
        found.sort_unstable();
        found.into_iter().map(|place| &tools[place]).collect()
    }
}
