//! Processes that are killed in mid-turn.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::Duration;

use openclaw_sessions::{KeptMessage, SessionStore as _, TurnEnd, TurnState};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::lab::{Lab, begin, is_full_scale, key, text, user};
use crate::worker::Worker;

fn random(below: u32) -> u32 {
    let mut bytes = [0; 4];
    SystemRandom::new().fill(&mut bytes).unwrap();
    u32::from_le_bytes(bytes) % below
}

/// Checks what is left of a process against what it reported.
fn check(shown: &[KeptMessage], reports: &[String]) {
    let kept: BTreeMap<u64, String> = shown
        .iter()
        .map(|kept| (kept.number, text(&kept.message)))
        .collect();
    for report in reports {
        let words: Vec<&str> = report.split(' ').collect();
        match words[..] {
            ["ack", number, said] => {
                assert_eq!(
                    kept.get(&number.parse().unwrap()).map(String::as_str),
                    Some(said)
                );
            }
            ["end", turn] => {
                let prefix = format!("{turn}-");
                let of_turn = shown
                    .iter()
                    .filter(|it| text(&it.message).starts_with(&prefix));
                let states: Vec<TurnState> = of_turn.map(|kept| kept.state).collect();
                assert_eq!(states, [TurnState::Complete; 4]);
            }
            _ => panic!("{report}"),
        }
    }
    let mut turns: BTreeMap<u64, Vec<&KeptMessage>> = BTreeMap::new();
    for kept in shown {
        turns.entry(kept.turn).or_default().push(kept);
    }
    for (first, messages) in turns {
        let numbers: Vec<u64> = messages.iter().map(|kept| kept.number).collect();
        let expected: Vec<u64> = (first..).take(messages.len()).collect();
        assert_eq!(numbers, expected, "the messages of a turn stand together");
        match messages[0].state {
            TurnState::Complete => assert_eq!(messages.len(), 4),
            TurnState::Interrupted => {}
            other => panic!("a turn that was cut is {other:?}"),
        }
    }
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_any_kill_and_a_cut_turn_is_interrupted() {
    let rounds = if is_full_scale() { 300 } else { 30 };
    let lab = Lab::new();
    let mut cut = 0;
    for round in 0..rounds {
        let name = format!("session-{}", round / 10);
        let mut worker = Worker::start(lab.state(), &format!("turns {name} r{round} 100000"));
        let mut reports = Vec::new();
        for _ in 0..random(25) {
            reports.extend(worker.next());
        }
        // Not to wait for something, but to hit it in the middle of something.
        sleep(Duration::from_micros(random(3_000).into()));
        reports.extend(worker.kill());
        let store = lab.store();
        let shown = store.show(&key(&name)).await.unwrap().unwrap_or_default();
        check(&shown, &reports);
        let is_cut = |kept: &KeptMessage| kept.state == TurnState::Interrupted;
        cut += usize::from(shown.last().is_some_and(is_cut));
        // Looking changes nothing; the next turn does, and it says the same.
        if round % 3 == 0 {
            let mut turn = begin(&store, &key(&name)).await;
            assert_eq!(turn.history().await.unwrap(), shown);
            turn.finish(TurnEnd::Complete).await.unwrap();
        }
        if lab.file().exists() {
            assert_eq!(lab.integrity(), "ok");
        }
        assert_eq!(store.remarks(), Vec::<String>::new());
        store.close().await;
    }
    // Kills that never hit a turn would show nothing.
    assert!(cut > rounds / 3, "{cut} of {rounds}");
}

#[tokio::test]
async fn a_lock_is_freed_when_its_holder_is_killed() {
    let lab = Lab::new();
    let store = lab.store();
    let mut worker = Worker::start(lab.state(), "hold a");
    worker.expect("held");
    let shown = store.show(&key("a")).await.unwrap().unwrap();
    assert_eq!(shown[0].state, TurnState::Running);
    let refused = store.begin(&key("a"), Duration::from_millis(50)).await;
    assert!(refused.is_err());
    worker.kill();
    let shown = store.show(&key("a")).await.unwrap().unwrap();
    assert_eq!(shown[0].state, TurnState::Interrupted);
    let mut turn = store
        .begin(&key("a"), Duration::from_secs(2))
        .await
        .unwrap();
    assert_eq!(
        turn.history().await.unwrap()[0].state,
        TurnState::Interrupted
    );
    turn.append(vec![user("next")]).await.unwrap();
    turn.finish(TurnEnd::Complete).await.unwrap();
}
