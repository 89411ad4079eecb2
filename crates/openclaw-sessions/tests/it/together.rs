//! Many processes at once.

use std::collections::BTreeSet;
use std::time::Duration;

use openclaw_sessions::{KeptMessage, SessionStore as _, TurnEnd, TurnState};

use crate::lab::{Lab, begin, key, text, user};
use crate::worker::Worker;

/// Whose turns these are, one after the other; each must be whole.
fn turns(shown: &[KeptMessage]) -> Vec<String> {
    shown
        .chunks(4)
        .map(|turn| {
            let texts: Vec<String> = turn.iter().map(|kept| text(&kept.message)).collect();
            let name = texts[0].strip_suffix("-user").unwrap().to_owned();
            let expected = ["user", "call", "tool", "said"].map(|step| format!("{name}-{step}"));
            assert_eq!(texts, expected);
            assert!(turn.iter().all(|kept| kept.turn == turn[0].number));
            assert!(turn.iter().all(|kept| kept.state == TurnState::Complete));
            name
        })
        .collect()
}

async fn never_interleave(processes: usize, each: usize) {
    let lab = Lab::new();
    let workers: Vec<Worker> = (0..processes)
        .map(|number| Worker::start(lab.state(), &format!("turns a p{number} {each}")))
        .collect();
    for worker in workers {
        assert_eq!(worker.end().len(), each * 5);
    }
    let shown = lab.store().show(&key("a")).await.unwrap().unwrap();
    let turns = turns(&shown);
    let different: BTreeSet<&String> = turns.iter().collect();
    assert_eq!(
        (turns.len(), different.len()),
        (processes * each, processes * each)
    );
    assert_eq!(lab.integrity(), "ok");
}

#[tokio::test]
async fn two_processes_never_interleave_in_one_session() {
    never_interleave(2, 25).await;
}

#[tokio::test]
async fn eight_processes_never_interleave_in_one_session() {
    never_interleave(8, 8).await;
}

#[tokio::test]
async fn a_process_without_pauses_lets_others_in() {
    let lab = Lab::new();
    let mut greedy = Worker::start(lab.state(), "turns a greedy 100000");
    assert!(greedy.next().is_some());
    let store = lab.store();
    for _ in 0..3 {
        let turn = store
            .begin(&key("a"), Duration::from_secs(5))
            .await
            .unwrap();
        turn.finish(TurnEnd::Complete).await.unwrap();
    }
    greedy.kill();
}

#[tokio::test]
async fn a_turn_of_one_session_does_not_keep_others_waiting() {
    let lab = Lab::new();
    let mut holder = Worker::start(lab.state(), "hold a");
    holder.expect("held");
    let other = Worker::start(lab.state(), "turns b x 3");
    assert_eq!(other.end().len(), 15);
    let store = lab.store();
    let mut turn = begin(&store, &key("c")).await;
    turn.append(vec![user("x")]).await.unwrap();
    turn.finish(TurnEnd::Complete).await.unwrap();
    holder.release();
    holder.end();
    let shown = store.show(&key("a")).await.unwrap().unwrap();
    assert_eq!(shown[0].state, TurnState::Complete);
}

#[tokio::test]
async fn a_session_is_deleted_once_its_turn_is_over_and_whoever_waits_begins_anew() {
    let lab = Lab::new();
    let mut holder = Worker::start(lab.state(), "hold a");
    holder.expect("held");
    let mut deleting = Worker::start(lab.state(), "delete a");
    deleting.expect("waiting");
    let store = lab.store();
    let shown = store.show(&key("a")).await.unwrap().unwrap();
    assert_eq!(shown.len(), 1);
    // Two more wait for the same lock, and its files are deleted under their hands.
    let waiting = [
        Worker::start(lab.state(), "turns a p 3"),
        Worker::start(lab.state(), "turns a q 3"),
    ];
    holder.release();
    holder.end();
    assert_eq!(deleting.end(), ["deleted true"]);
    for worker in waiting {
        worker.end();
    }
    // They may have had turns before the deletion, but what is left is whole.
    let left = store.show(&key("a")).await.unwrap().unwrap_or_default();
    let turns = turns(&left);
    assert!(turns.len() <= 6);
    assert!(
        left.iter()
            .zip(1..)
            .all(|(kept, number)| kept.number == number)
    );
    assert_eq!(lab.integrity(), "ok");
}

#[tokio::test]
async fn sessions_that_are_deleted_and_made_by_many_at_once_stay_whole() {
    let lab = Lab::new();
    let workers: Vec<Worker> = (0..4)
        .map(|number| Worker::start(lab.state(), &format!("turns a p{number} 12")))
        .collect();
    let store = lab.store();
    for _ in 0..8 {
        store
            .delete(&key("a"), Duration::from_mins(1))
            .await
            .unwrap();
    }
    for worker in workers {
        assert_eq!(worker.end().len(), 60);
    }
    turns(&store.show(&key("a")).await.unwrap().unwrap_or_default());
    assert_eq!(lab.integrity(), "ok");
}

#[tokio::test]
async fn fifty_processes_open_a_fresh_directory_at_once() {
    let lab = Lab::new();
    let workers: Vec<Worker> = (0..50)
        .map(|number| match number % 5 {
            0 => Worker::start(lab.state(), "count"),
            _ => Worker::start(lab.state(), &format!("turns s{number} x 1")),
        })
        .collect();
    for worker in workers {
        assert!(!worker.end().is_empty());
    }
    let store = lab.store();
    assert_eq!(store.count().await.unwrap(), 40);
    assert_eq!(store.remarks(), Vec::<String>::new());
    assert_eq!(lab.integrity(), "ok");
}
