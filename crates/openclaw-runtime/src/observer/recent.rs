//! The last things that happened, with their times.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use openclaw_engine::{ActivityEntry, EngineEvent};
use openclaw_mcp::written_moment;

/// How many are kept.
const MOST: usize = 500;
/// How long their texts may be together, in bytes: what is said of a configuration that is full of
/// mistakes is long. The last one is kept, however long it is.
const LARGEST: usize = 1_000_000;

/// The last things that happened.
#[derive(Default)]
pub(super) struct Recent(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    events: VecDeque<(SystemTime, Arc<EngineEvent>)>,
    /// How long their texts are.
    size: usize,
}

impl Recent {
    /// Keeps something that happened.
    pub(super) fn keep(&self, time: SystemTime, event: Arc<EngineEvent>) {
        let mut kept = self.kept();
        kept.size += size(&event);
        kept.events.push_back((time, event));
        while kept.events.len() > MOST || (kept.size > LARGEST && kept.events.len() > 1) {
            let gone = kept.events.pop_front();
            kept.size -= gone.map_or(0, |(_, event)| size(&event));
        }
    }

    /// What is kept, in the order in which it happened.
    pub(super) fn entries(&self) -> Vec<ActivityEntry> {
        let events = self.kept().events.clone();
        let entries = events.into_iter().map(|(time, event)| ActivityEntry {
            time: written_moment(time),
            event: Arc::unwrap_or_clone(event),
        });
        entries.collect()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long the texts of an event are.
fn size(event: &EngineEvent) -> usize {
    match event {
        EngineEvent::Server { server, error, .. } => {
            server.len() + error.as_ref().map_or(0, String::len)
        }
        EngineEvent::Restarted { server } => server.len(),
        EngineEvent::Reloaded { report } => {
            let lists = [&report.added, &report.changed, &report.removed];
            let texts = lists.into_iter().chain([&report.warnings]).flatten();
            texts.map(|text| text.len() + size_of::<String>()).sum()
        }
        EngineEvent::NotReloaded { error } => error.len(),
        EngineEvent::Call { .. } | EngineEvent::Missed { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use openclaw_engine::ReloadReport;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn restarted(server: &str) -> Arc<EngineEvent> {
        Arc::new(EngineEvent::Restarted {
            server: server.to_owned(),
        })
    }

    #[test]
    fn the_last_ones_are_kept_in_their_order() {
        let recent = Recent::default();
        for number in 0..=500 {
            recent.keep(at(number), restarted(&number.to_string()));
        }
        let entries = recent.entries();
        assert_eq!(entries.len(), 500);
        assert_eq!(entries[0].time, "1970-01-01T00:00:01.000Z");
        assert_eq!(entries[499].time, "1970-01-01T00:08:20.000Z");
        assert_eq!(entries[499].event, *restarted("500"));
    }

    #[test]
    fn long_texts_leave_room_for_fewer_and_the_last_one_is_always_there() {
        let recent = Recent::default();
        recent.keep(at(0), restarted("first"));
        for _ in 0..3 {
            let error = "x".repeat(400_000);
            recent.keep(at(1), Arc::new(EngineEvent::NotReloaded { error }));
        }
        assert_eq!(recent.entries().len(), 2);
        let report = ReloadReport {
            warnings: vec!["x".repeat(400_000); 9],
            ..ReloadReport::default()
        };
        recent.keep(at(2), Arc::new(EngineEvent::Reloaded { report }));
        assert_eq!(recent.entries().len(), 1);
        recent.keep(at(3), restarted("last"));
        let entries = recent.entries();
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].event, *restarted("last"));
        assert_eq!(recent.kept().size, "last".len());
    }
}
