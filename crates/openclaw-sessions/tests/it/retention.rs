//! What is deleted by itself.

use std::sync::atomic::Ordering;

use openclaw_config::SessionRetention;
use openclaw_sessions::{SessionFilter, SessionStore as _, SqliteSessions, TurnEnd};

use crate::lab::{Lab, begin, key, said, turn, user};

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;

async fn names(store: &SqliteSessions) -> Vec<String> {
    // Pruning is handed in behind the end of a turn, and in steps; so is this, behind each of them.
    for _ in 0..30 {
        let again = begin(store, &key("nobody")).await;
        again.finish(TurnEnd::Complete).await.unwrap();
    }
    let list = store.list(SessionFilter::default()).await.unwrap();
    list.iter()
        .map(|it| it.key.as_str().trim_start_matches("agent:main:").to_owned())
        .collect()
}

async fn used(lab: &Lab, store: &SqliteSessions, name: &str, after: u64) {
    lab.clock.fetch_add(after, Ordering::Relaxed);
    turn(store, &key(name), vec![user(name)]).await;
}

#[tokio::test]
async fn sessions_go_after_their_days() {
    let lab = Lab::new();
    let store = lab.store_with(SessionRetention {
        days: 3,
        ..SessionRetention::default()
    });
    used(&lab, &store, "a", 0).await;
    used(&lab, &store, "b", 2 * DAY).await;
    for _ in 0..3 {
        used(&lab, &store, "c", DAY + HOUR).await;
        assert_eq!(names(&store).await, ["c", "b", "a"], "until others are old");
    }
    used(&lab, &store, "c", DAY).await;
    assert_eq!(names(&store).await, ["c", "b"]);
    // For ever.
    let store = lab.store_with(SessionRetention {
        days: 0,
        ..SessionRetention::default()
    });
    used(&lab, &store, "d", 900 * DAY).await;
    used(&lab, &store, "d", 2 * DAY).await;
    assert_eq!(names(&store).await, ["d", "c", "b"]);
}

#[tokio::test]
async fn a_clock_that_is_wrong_for_a_while_costs_no_session() {
    let lab = Lab::new();
    let store = lab.store_with(SessionRetention {
        days: 3,
        ..SessionRetention::default()
    });
    used(&lab, &store, "a", 0).await;
    used(&lab, &store, "b", HOUR).await;
    // More than once, by another amount, and with hours in between in which it is looked through.
    for jump in [4, 100, 3_650, 3_655] {
        used(&lab, &store, "b", jump * DAY).await;
        used(&lab, &store, "b", 2 * HOUR).await;
        assert_eq!(names(&store).await, ["b", "a"], "{jump} days ahead");
        lab.clock.fetch_sub(jump * DAY, Ordering::Relaxed);
        used(&lab, &store, "b", HOUR).await;
        assert_eq!(
            names(&store).await,
            ["b", "a"],
            "{jump} days ahead and back"
        );
    }
    lab.clock.fetch_sub(3_650 * DAY, Ordering::Relaxed);
    used(&lab, &store, "b", 0).await;
    lab.clock.fetch_add(3_650 * DAY, Ordering::Relaxed);
    used(&lab, &store, "b", HOUR).await;
    assert_eq!(names(&store).await, ["b", "a"], "back and ahead");
    // A clock that goes on from where it is, is right.
    for _ in 0..5 {
        used(&lab, &store, "b", 2 * DAY).await;
    }
    assert_eq!(names(&store).await, ["b"]);
}

/// By how much a clock is behind: to a time before everything, or to where it was when the machine was last on.
const BEHIND: [u64; 2] = [3_650 * DAY, 99 * DAY + 23 * HOUR];

#[tokio::test]
async fn what_was_used_while_the_clock_was_behind_is_as_old_as_what_was_used_around_it() {
    for behind in BEHIND {
        let lab = Lab::new();
        let store = lab.store_with(SessionRetention {
            days: 3,
            ..SessionRetention::default()
        });
        used(&lab, &store, "a", 0).await;
        used(&lab, &store, "b", DAY).await;
        // As on a machine that does not know the time until it has asked somebody.
        lab.clock.fetch_sub(behind, Ordering::Relaxed);
        used(&lab, &store, "c", 0).await;
        lab.clock.fetch_add(behind, Ordering::Relaxed);
        used(&lab, &store, "b", HOUR).await;
        used(&lab, &store, "b", DAY + HOUR).await;
        assert_eq!(names(&store).await, ["b", "a", "c"]);
        // It goes when its time has come, and keeps no other from going.
        let mut left = Vec::new();
        for _ in 0..6 {
            used(&lab, &store, "b", DAY + HOUR).await;
            left.push(names(&store).await.len());
        }
        assert_eq!(left, [3, 3, 1, 1, 1, 1], "{behind}");
    }
}

#[tokio::test]
async fn what_was_used_while_the_clock_was_behind_is_not_old_though_nothing_young_came_before_it() {
    for by in BEHIND {
        let lab = Lab::new();
        let store = lab.store_with(SessionRetention {
            days: 3,
            ..SessionRetention::default()
        });
        // As on a new machine, and then after a long absence, from which the clock may go on as if there had been none.
        for [behind, right] in [["a", "b"], ["c", "d"]] {
            lab.clock.fetch_add(100 * DAY, Ordering::Relaxed);
            lab.clock.fetch_sub(by, Ordering::Relaxed);
            used(&lab, &store, behind, 0).await;
            used(&lab, &store, behind, HOUR).await;
            lab.clock.fetch_add(by, Ordering::Relaxed);
            used(&lab, &store, right, HOUR).await;
            names(&store).await;
            used(&lab, &store, right, DAY + HOUR).await;
            let left = names(&store).await;
            assert_eq!(left[0], right, "{by}");
            assert!(left.iter().any(|it| it == behind), "{by}: {left:?}");
        }
    }
}

#[tokio::test]
async fn whatever_the_clock_says_the_one_that_was_used_last_is_not_the_oldest() {
    const WRONG: u64 = 3_650 * DAY;
    let lab = Lab::new();
    let store = lab.store_with(SessionRetention {
        sessions: 2,
        days: 0,
        ..SessionRetention::default()
    });
    used(&lab, &store, "ahead", WRONG).await;
    assert_eq!(names(&store).await, ["ahead"]);
    lab.clock.fetch_sub(WRONG, Ordering::Relaxed);
    used(&lab, &store, "a", 2 * HOUR).await;
    assert_eq!(names(&store).await, ["ahead", "a"]);
    used(&lab, &store, "b", 2 * HOUR).await;
    assert_eq!(names(&store).await, ["b", "a"]);
    lab.clock.fetch_sub(WRONG, Ordering::Relaxed);
    used(&lab, &store, "behind", 2 * HOUR).await;
    assert_eq!(names(&store).await, ["b", "behind"]);
}

#[tokio::test]
async fn the_oldest_go_when_there_are_too_many() {
    let lab = Lab::new();
    let retention = SessionRetention {
        sessions: 30,
        ..SessionRetention::default()
    };
    let store = lab.store_with(retention);
    used(&lab, &store, "first", 0).await;
    for number in 0..80 {
        used(&lab, &store, &format!("s{number}"), 1_000).await;
    }
    // There was a pass after the first turn, so the next one is an hour later.
    assert_eq!(names(&store).await.len(), 81);
    used(&lab, &store, "last", HOUR).await;
    let left = names(&store).await;
    assert_eq!(left.len(), 30);
    assert_eq!((left[0].as_str(), left[29].as_str()), ("last", "s51"));
    // Not in another process either.
    let other = lab.store_with(retention);
    used(&lab, &other, "more", 1_000).await;
    assert_eq!(names(&other).await.len(), 31);
}

#[tokio::test]
async fn the_oldest_go_when_they_are_too_large_and_the_file_shrinks() {
    let lab = Lab::new();
    let retention = SessionRetention {
        bytes: 2_000_000,
        ..SessionRetention::default()
    };
    let store = lab.store_with(retention);
    used(&lab, &store, "first", 0).await;
    for number in 0..6 {
        lab.clock.fetch_add(1_000, Ordering::Relaxed);
        let large = user(&"x".repeat(600_000));
        turn(&store, &key(&format!("s{number}")), vec![large]).await;
    }
    used(&lab, &store, "last", HOUR).await;
    assert_eq!(names(&store).await, ["last", "s5", "s4", "s3"]);
    store.close().await;
    let size = std::fs::metadata(lab.file()).unwrap().len();
    assert!(size < 2_100_000, "{size}");
    // The newest is never deleted, however large.
    let store = lab.store_with(SessionRetention {
        bytes: 1,
        ..retention
    });
    used(&lab, &store, "large", 2 * HOUR).await;
    assert_eq!(names(&store).await, ["large"]);
}

#[tokio::test]
async fn one_whose_turn_took_long_was_used_when_it_ended() {
    let lab = Lab::new();
    let store = lab.store_with(SessionRetention {
        sessions: 2,
        ..SessionRetention::default()
    });
    used(&lab, &store, "first", 0).await;
    let mut long = begin(&store, &key("long")).await;
    long.append(vec![user("a question")]).await.unwrap();
    for name in ["a", "b", "c"] {
        used(&lab, &store, name, 1_000).await;
    }
    long.append(vec![said("an answer")]).await.unwrap();
    long.finish(TurnEnd::Complete).await.unwrap();
    used(&lab, &store, "last", HOUR).await;
    assert_eq!(names(&store).await, ["last", "long"]);
}

#[tokio::test]
async fn what_is_left_of_a_deletion_that_was_cut_costs_no_other_session() {
    let lab = Lab::new();
    let retention = SessionRetention {
        bytes: 2_000_000,
        ..SessionRetention::default()
    };
    let store = lab.store_with(retention);
    used(&lab, &store, "first", 0).await;
    for name in ["cut", "a", "b"] {
        let large = user(&"x".repeat(800_000));
        turn(&store, &key(name), vec![large]).await;
    }
    store.close().await;
    let database = rusqlite::Connection::open(lab.file()).unwrap();
    let query = "UPDATE sessions SET key = NULL WHERE key = 'agent:main:cut'";
    assert_eq!(database.execute(query, []).unwrap(), 1);
    drop(database);
    let store = lab.store_with(retention);
    used(&lab, &store, "last", HOUR + 1_000).await;
    assert_eq!(names(&store).await, ["last", "b", "a", "first"]);
    store.close().await;
    assert_eq!(lab.rows("sessions WHERE key IS NULL"), 0);
}

#[tokio::test]
async fn a_session_in_use_stays_and_locks_of_nothing_go() {
    let lab = Lab::new();
    let store = lab.store_with(SessionRetention {
        days: 1,
        ..SessionRetention::default()
    });
    used(&lab, &store, "used", 0).await;
    used(&lab, &store, "unused", 0).await;
    let elsewhere = lab.store();
    let held = begin(&elsewhere, &key("used")).await;
    let orphan = lab.state().join(format!("sessions/locks/{:032}.lock", 1));
    std::fs::write(&orphan, "").unwrap();
    for _ in 0..4 {
        used(&lab, &store, "new", 2 * DAY).await;
    }
    assert_eq!(names(&store).await, ["new", "used"]);
    assert!(!orphan.exists());
    held.finish(TurnEnd::Complete).await.unwrap();
}
