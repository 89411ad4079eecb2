//! What happened lately.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::watching::EngineEvent;

/// Asks for what happened lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivityQuery {
    /// How much of it, at most.
    pub limit: Option<usize>,
}

impl ActivityQuery {
    /// How many entries there are if nobody says.
    pub const USUAL: usize = 200;
    /// How many entries there are at most.
    pub const MOST: usize = 2_000;

    /// How many entries there are at most for this one.
    pub fn most(&self) -> usize {
        self.limit.unwrap_or(Self::USUAL).min(Self::MOST)
    }
}

/// Something that happened, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivityEntry {
    /// When, as in RFC 3339: in UTC, with milliseconds. Calls have the time of their end.
    pub time: String,
    /// What.
    #[serde(flatten)]
    pub event: EngineEvent,
}

/// What happened lately, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivityReport {
    /// Calls of every process that shares the state directory, and what else happened in the one that
    /// answers.
    #[serde(deserialize_with = "known")]
    pub entries: Vec<ActivityEntry>,
}

/// Reads the entries whose events are known: a gateway of a later version may have others.
fn known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ActivityEntry>, D::Error> {
    let entries = Vec::<Value>::deserialize(deserializer)?.into_iter();
    Ok(entries
        .filter_map(|entry| serde_json::from_value(entry).ok())
        .collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_is_an_event_with_its_time() {
        let entry = ActivityEntry {
            time: "2026-01-01T00:00:00.000Z".to_owned(),
            event: EngineEvent::Restarted {
                server: "mine".to_owned(),
            },
        };
        let written = serde_json::to_value(&entry).unwrap();
        let expected = json!({
            "time": "2026-01-01T00:00:00.000Z", "type": "restarted", "server": "mine",
        });
        assert_eq!(written, expected);
        let read: ActivityEntry = serde_json::from_value(written).unwrap();
        assert_eq!(read, entry);
    }

    #[test]
    fn events_that_are_not_known_are_passed_over() {
        let call = json!({
            "time": "2026-01-01T00:00:00.000Z", "type": "call", "agent": "a", "server": "s",
            "tool": "t", "outcome": "ok", "durationMs": 5, "correlation": "c",
        });
        let later = json!({ "time": "2026-01-01T00:00:00.001Z", "type": "invented", "x": [1] });
        let report = json!({ "entries": [later, call, 7] });
        let report: ActivityReport = serde_json::from_value(report).unwrap();
        assert_eq!(
            serde_json::to_value(&report).unwrap(),
            json!({ "entries": [call] })
        );
    }

    #[test]
    fn there_is_a_usual_number_and_a_largest_one() {
        let most = |limit| ActivityQuery { limit }.most();
        assert_eq!(
            [
                most(None),
                most(Some(0)),
                most(Some(7)),
                most(Some(1 << 40))
            ],
            [200, 0, 7, 2_000]
        );
    }
}
