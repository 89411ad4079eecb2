//! Tools with names like one that there is not.

use std::cmp::Reverse;

use crate::assembly::AgentTool;

/// How many are suggested at most.
const MOST: usize = 5;
/// How much of two names has to be the same, in hundredths.
const LEAST: usize = 50;
/// How much of a name counts, in bytes.
const LONGEST: usize = 128;

/// Pairs of letters that follow one another, sorted.
struct Pairs(Vec<[u8; 2]>);

impl Pairs {
    fn of(name: &str) -> Self {
        let bytes = name.as_bytes();
        let bytes = bytes.get(..bytes.len().min(LONGEST)).unwrap_or_default();
        let lower = bytes.to_ascii_lowercase();
        let mut pairs: Vec<[u8; 2]> = lower
            .windows(2)
            .filter_map(|two| two.try_into().ok())
            .collect();
        pairs.sort_unstable();
        Self(pairs)
    }

    /// How many of all pairs both have, in hundredths.
    fn likeness(&self, other: &Self) -> usize {
        let (mut one, mut two) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = 0_usize;
        while let (Some(first), Some(second)) = (one.peek(), two.peek()) {
            match first.cmp(second) {
                std::cmp::Ordering::Less => drop(one.next()),
                std::cmp::Ordering::Greater => drop(two.next()),
                std::cmp::Ordering::Equal => {
                    both += 1;
                    one.next();
                    two.next();
                }
            }
        }
        let all = self.0.len() + other.0.len();
        (200 * both).checked_div(all).unwrap_or_default()
    }
}

/// A name without what so many begin with that it says nothing.
fn bare(name: &str) -> &str {
    name.strip_prefix("mcp_").unwrap_or(name)
}

/// The tools whose names are most like a text, the most alike first.
pub(super) fn near<'t>(
    tools: impl Iterator<Item = &'t AgentTool>,
    name: &str,
) -> Vec<&'t AgentTool> {
    let asked = Pairs::of(bare(name));
    let mut found: Vec<(Reverse<usize>, &AgentTool)> = tools
        .filter_map(|tool| {
            let whole = asked.likeness(&Pairs::of(bare(tool.name().as_str())));
            let own = asked.likeness(&Pairs::of(&tool.prepared.definition.name));
            let likeness = whole.max(own);
            (likeness >= LEAST).then_some((Reverse(likeness), tool))
        })
        .collect();
    // Those that are as much alike stay in the order of their names.
    found.sort_by_key(|(likeness, _)| *likeness);
    found.truncate(MOST);
    found.into_iter().map(|(_, tool)| tool).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likeness(one: &str, other: &str) -> usize {
        Pairs::of(one).likeness(&Pairs::of(other))
    }

    #[test]
    fn names_with_a_slip_are_alike_and_others_are_not() {
        assert_eq!(likeness("create_issue", "Create_Issue"), 100);
        assert!(likeness("create-issue", "create_issue") > 80);
        assert!(likeness("create-issue", "mcp_github_create_issue") >= LEAST);
        assert!(likeness("weather", "create_issue") < LEAST);
        assert_eq!(likeness("", ""), 0);
        assert!(likeness(bare("mcp_foo"), bare("mcp_fly")) < LEAST);
        assert!(
            likeness("mcp_foo", "mcp_fly") >= LEAST,
            "which is why it is bared"
        );
        assert_eq!(likeness("x", "x"), 0);
    }
}
