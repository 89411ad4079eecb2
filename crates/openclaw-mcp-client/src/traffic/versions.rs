//! How often resources have changed, for those who keep what they read.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::changes::Changes;

/// How many resources are counted by name; beyond them all count as changed.
const NAMED: usize = 1_000;

/// How often a resource has changed, as far as its server says. What was read at one version can be
/// used for as long as the version is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceVersion {
    all: u64,
    own: u64,
}

/// Counts what a server says has changed, at the moment when it says so.
#[derive(Debug, Default)]
pub(crate) struct ResourceVersions(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    /// How often all may have changed.
    all: u64,
    /// How often each has, since then.
    named: BTreeMap<String, u64>,
}

/// The resources of which a server of the second era has agreed to tell.
#[derive(Debug, Default)]
pub(crate) struct Granted(Mutex<BTreeSet<String>>);

impl Granted {
    /// Notes that it tells of these, and of no others.
    pub(crate) fn set(&self, resources: BTreeSet<String>) {
        *self.lock() = resources;
    }

    /// Whether it tells of this one.
    pub(crate) fn holds(&self, uri: &str) -> bool {
        self.lock().contains(uri)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResourceVersions {
    /// The version of a resource. A change of something below it is one of its own.
    pub(crate) fn of(&self, uri: &str) -> ResourceVersion {
        let counted = self.lock();
        let from = (Bound::Included(uri), Bound::Unbounded);
        let below = counted.named.range::<str, _>(from);
        let below = below.take_while(|(changed, _)| changed.starts_with(uri));
        ResourceVersion {
            all: counted.all,
            own: below.map(|(_, count)| count).sum(),
        }
    }

    /// Counts changes.
    pub(crate) fn count(&self, changes: &Changes) {
        if changes.any_updated || changes.resources {
            self.count_all();
        }
        let mut counted = self.lock();
        for uri in &changes.updated {
            if let Some(count) = counted.named.get_mut(uri) {
                *count += 1;
            } else if counted.named.len() < NAMED {
                counted.named.insert(uri.clone(), 1);
            } else {
                counted.forget();
            }
        }
    }

    /// Counts all resources as changed.
    pub(crate) fn count_all(&self) {
        self.lock().forget();
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counted {
    fn forget(&mut self) {
        self.all += 1;
        self.named.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn updated(uri: &str) -> Changes {
        Changes {
            updated: [uri.to_owned()].into(),
            ..Changes::default()
        }
    }

    #[test]
    fn a_change_is_one_of_the_resource_and_of_what_it_lies_in() {
        let versions = ResourceVersions::default();
        let before = ["a://x", "a://x/y", "a://z"].map(|uri| versions.of(uri));
        versions.count(&updated("a://x/y"));
        let after = ["a://x", "a://x/y", "a://z"].map(|uri| versions.of(uri));
        assert_ne!(before[0], after[0]);
        assert_ne!(before[1], after[1]);
        assert_eq!(before[2], after[2]);
        versions.count(&Changes {
            tools: true,
            prompts: true,
            ..Changes::default()
        });
        assert_eq!(versions.of("a://z"), after[2], "no word of resources");
        for all in [
            Changes {
                resources: true,
                ..Changes::default()
            },
            Changes::everything(),
        ] {
            let before = versions.of("a://z");
            versions.count(&all);
            assert_ne!(versions.of("a://z"), before);
        }
    }

    #[test]
    fn more_names_than_are_counted_change_everything() {
        let versions = ResourceVersions::default();
        let before = versions.of("b://x");
        for number in 0..NAMED {
            versions.count(&updated(&format!("a://{number}")));
        }
        assert_eq!(versions.of("b://x"), before);
        versions.count(&updated("a://one more"));
        assert_ne!(versions.of("b://x"), before);
        assert!(versions.lock().named.is_empty());
    }
}
