//! Turns in one process.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use openclaw_sessions::{SessionError, SessionFilter, SessionStore as _, TurnEnd, TurnState};
use tokio::sync::Mutex;

use crate::lab::{Lab, answer, begin, call, key, said, summary, text, texts, turn, user};

#[tokio::test]
async fn what_was_said_comes_back_in_the_next_turn() {
    let lab = Lab::new();
    let messages = vec![user("one"), call("two"), answer("three"), said("four")];
    let store = lab.store();
    let mut first = begin(&store, &key("a")).await;
    assert_eq!(first.history().await.unwrap(), []);
    assert_eq!(first.append(messages[..1].to_vec()).await.unwrap(), [1]);
    assert_eq!(
        first.append(messages[1..].to_vec()).await.unwrap(),
        [2, 3, 4]
    );
    // A turn's own messages are no history to it.
    assert_eq!(first.history().await.unwrap(), []);
    first.finish(TurnEnd::Complete).await.unwrap();
    store.close().await;

    let store = lab.store();
    let mut second = begin(&store, &key("agent:main:a")).await;
    second.append(vec![user("five")]).await.unwrap();
    let history = second.history().await.unwrap();
    let kept: Vec<_> = history.iter().map(|kept| kept.message.clone()).collect();
    assert_eq!(kept, messages);
    assert!(
        history
            .iter()
            .all(|kept| kept.turn == 1 && kept.state == TurnState::Complete)
    );
    second.finish(TurnEnd::Failed).await.unwrap();
    let shown = store.show(&key("a")).await.unwrap().unwrap();
    assert_eq!(shown.len(), 5);
    assert_eq!((shown[4].turn, shown[4].state), (5, TurnState::Failed));
}

#[tokio::test]
async fn nothing_is_made_before_something_is_said() {
    let lab = Lab::new();
    let store = lab.store();
    assert_eq!(store.count().await.unwrap(), 0);
    assert_eq!(store.list(SessionFilter::default()).await.unwrap(), []);
    assert_eq!(store.show(&key("a")).await.unwrap(), None);
    assert!(!store.delete(&key("a"), Duration::ZERO).await.unwrap());
    store.close().await;
    assert_eq!(std::fs::read_dir(lab.state()).unwrap().count(), 0);

    let turn = begin(&store, &key("a")).await;
    turn.finish(TurnEnd::Complete).await.unwrap();
    assert!(!lab.file().exists());
    let locks = lab.state().join("sessions/locks");
    assert_eq!(std::fs::read_dir(locks).unwrap().count(), 0);
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_look_into_it() {
    use std::os::unix::fs::PermissionsExt;
    let lab = Lab::new();
    let store = lab.store();
    turn(&store, &key("a"), vec![user("x")]).await;
    let mode =
        |path: std::path::PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let directory = lab.state().join("sessions");
    assert_eq!(mode(directory.clone()), 0o700);
    for file in std::fs::read_dir(&directory).unwrap() {
        let path = file.unwrap().path();
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(path.clone()), wanted, "{}", path.display());
    }
}

#[tokio::test]
async fn those_who_wait_get_their_turn_in_their_order() {
    let lab = Lab::new();
    let store = Arc::new(lab.store());
    let first = begin(&store, &key("a")).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut waiting = Vec::new();
    for number in 0..20 {
        let (store, order) = (Arc::clone(&store), Arc::clone(&order));
        waiting.push(tokio::spawn(async move {
            let mut turn = begin(&store, &key("a")).await;
            order.lock().await.push(number);
            turn.append(vec![user(&number.to_string())]).await.unwrap();
            turn.finish(TurnEnd::Complete).await.unwrap();
        }));
        // On one thread, this lets it run until it waits.
        tokio::task::yield_now().await;
    }
    first.finish(TurnEnd::Complete).await.unwrap();
    for task in waiting {
        task.await.unwrap();
    }
    assert_eq!(*order.lock().await, (0..20).collect::<Vec<_>>());
    let shown = store.show(&key("a")).await.unwrap().unwrap();
    assert_eq!(
        texts(&shown),
        (0..20).map(|n| n.to_string()).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn whoever_has_no_patience_is_told_that_the_session_is_in_use() {
    let lab = Lab::new();
    let (one, other) = (lab.store(), lab.store());
    let held = begin(&one, &key("a")).await;
    for store in [&one, &other] {
        let refused = store.begin(&key("a"), Duration::from_millis(30)).await;
        assert!(matches!(refused.err(), Some(SessionError::InUse { .. })));
        let refused = store.delete(&key("a"), Duration::ZERO).await;
        assert!(matches!(refused, Err(SessionError::InUse { .. })));
        begin(store, &key("b"))
            .await
            .finish(TurnEnd::Complete)
            .await
            .unwrap();
    }
    held.finish(TurnEnd::Complete).await.unwrap();
    begin(&other, &key("a"))
        .await
        .finish(TurnEnd::Complete)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_turn_that_is_dropped_is_interrupted_and_frees_the_session() {
    let lab = Lab::new();
    let store = lab.store();
    let mut turn = begin(&store, &key("a")).await;
    turn.append(vec![user("one"), call("two")]).await.unwrap();
    let shown = store.show(&key("a")).await.unwrap().unwrap();
    assert!(shown.iter().all(|kept| kept.state == TurnState::Running));
    // A second process sees the same.
    let shown = lab.store().show(&key("a")).await.unwrap().unwrap();
    assert!(shown.iter().all(|kept| kept.state == TurnState::Running));
    drop(turn);
    let mut next = begin(&store, &key("a")).await;
    let history = next.history().await.unwrap();
    assert_eq!(texts(&history), ["one", "two"]);
    assert!(
        history
            .iter()
            .all(|kept| kept.state == TurnState::Interrupted)
    );
    next.finish(TurnEnd::Complete).await.unwrap();
}

#[tokio::test]
async fn an_append_that_nobody_waits_for_belongs_to_the_same_turn() {
    let lab = Lab::new();
    let store = lab.store();
    let mut turn = begin(&store, &key("a")).await;
    {
        // Polled once, so that it is handed in, and then given up.
        let mut append = turn.append(vec![user("given up")]);
        let polled = std::future::poll_fn(|context| {
            std::task::Poll::Ready(append.as_mut().poll(context).is_ready())
        });
        let _ = polled.await;
    }
    turn.append(vec![user("next")]).await.unwrap();
    turn.finish(TurnEnd::Complete).await.unwrap();
    let shown = store.show(&key("a")).await.unwrap().unwrap();
    assert_eq!(texts(&shown), ["given up", "next"]);
    assert!(
        shown
            .iter()
            .all(|kept| kept.turn == 1 && kept.state == TurnState::Complete)
    );
}

#[tokio::test]
async fn history_begins_at_the_last_summary_and_nothing_is_lost() {
    let lab = Lab::new();
    let store = lab.store();
    let key = key("a");
    turn(&store, &key, vec![user("1"), said("2")]).await;
    turn(&store, &key, vec![user("3"), said("4")]).await;
    let mut third = begin(&store, &key).await;
    third.append(vec![user("5")]).await.unwrap();
    third.summarise(2, summary("of 1 and 2")).await.unwrap();
    assert_eq!(
        texts(&third.history().await.unwrap()),
        ["of 1 and 2", "3", "4"]
    );
    third.append(vec![said("7")]).await.unwrap();
    third.finish(TurnEnd::Complete).await.unwrap();

    let mut fourth = begin(&store, &key).await;
    let expected = ["of 1 and 2", "3", "4", "5", "7"];
    assert_eq!(texts(&fourth.history().await.unwrap()), expected);
    // A number that is not there yet means all that there is.
    fourth.summarise(900, summary("of all")).await.unwrap();
    assert_eq!(texts(&fourth.history().await.unwrap()), ["of all"]);
    // An older one does not bring back what a summary stands for.
    fourth.summarise(1, summary("of all, again")).await.unwrap();
    fourth.finish(TurnEnd::Complete).await.unwrap();
    turn(&store, &key, vec![user("8")]).await;
    let mut last = begin(&store, &key).await;
    assert_eq!(
        texts(&last.history().await.unwrap()),
        ["of all, again", "8"]
    );
    drop(last);
    let shown = store.show(&key).await.unwrap().unwrap();
    let all = [
        "1",
        "2",
        "3",
        "4",
        "5",
        "of 1 and 2",
        "7",
        "of all",
        "of all, again",
        "8",
    ];
    assert_eq!(texts(&shown), all);
    let numbers: Vec<u64> = shown.iter().map(|kept| kept.number).collect();
    assert_eq!(numbers, (1..=10).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_session_that_was_last_used_is_listed_first() {
    let lab = Lab::new();
    let store = lab.store();
    for name in ["a", "agent:other:b", "c", "a"] {
        lab.clock.fetch_add(1_000, Ordering::Relaxed);
        turn(&store, &key(name), vec![user("x"), said("y")]).await;
    }
    let list = store.list(SessionFilter::default()).await.unwrap();
    let found: Vec<_> = list
        .iter()
        .map(|it| (it.key.as_str(), it.messages))
        .collect();
    let expected = [
        ("agent:main:a", 4),
        ("agent:main:c", 2),
        ("agent:other:b", 2),
    ];
    assert_eq!(found, expected);
    assert_eq!(
        list[0]
            .updated
            .duration_since(list[0].created)
            .unwrap()
            .as_secs(),
        3
    );
    let agent = Some(openclaw_config::AgentId::new("other").unwrap());
    let list = store.list(SessionFilter { agent }).await.unwrap();
    assert_eq!(list.len(), 1);
    assert_eq!(store.count().await.unwrap(), 3);
}

#[tokio::test]
async fn a_deleted_session_leaves_nothing_behind() {
    let lab = Lab::new();
    let store = lab.store();
    let many: Vec<_> = (0..1_200)
        .map(|n| user(&format!("secret words {n}")))
        .collect();
    turn(&store, &key("a"), many).await;
    turn(&store, &key("b"), vec![user("stays")]).await;
    assert!(store.delete(&key("a"), Duration::ZERO).await.unwrap());
    assert!(!store.delete(&key("a"), Duration::ZERO).await.unwrap());
    assert_eq!(store.show(&key("a")).await.unwrap(), None);
    assert_eq!(store.count().await.unwrap(), 1);
    store.close().await;
    for (table, count) in [("sessions", 1), ("turns", 1), ("messages", 1)] {
        assert_eq!(lab.rows(table), count, "{table}");
    }
    let bytes = std::fs::read(lab.file()).unwrap();
    assert!(!bytes.windows(12).any(|window| window == b"secret words"));
    assert!(bytes.len() < 150_000, "{}", bytes.len());
    let locks = lab.state().join("sessions/locks");
    let left = std::fs::read_dir(locks).unwrap();
    assert!(left.flatten().count() <= 2);
    // The name can be used again.
    turn(&store, &key("a"), vec![user("new")]).await;
    let shown = store.show(&key("a")).await.unwrap().unwrap();
    assert_eq!(
        (shown[0].number, text(&shown[0].message).as_str()),
        (1, "new")
    );
}

#[tokio::test]
async fn a_message_of_ten_megabytes_is_kept_and_one_of_seventy_refused() {
    let lab = Lab::new();
    let store = lab.store();
    let mut turn = begin(&store, &key("a")).await;
    let large = user(&"ä".repeat(5_000_000));
    turn.append(vec![large.clone()]).await.unwrap();
    let refused = turn
        .append(vec![user("fits"), user(&"x".repeat(70 << 20))])
        .await;
    assert!(matches!(refused, Err(SessionError::TooLarge { .. })));
    turn.finish(TurnEnd::Complete).await.unwrap();
    let shown = store.show(&key("a")).await.unwrap().unwrap();
    assert_eq!(shown.len(), 1);
    assert!(shown[0].message == large);
}

#[tokio::test]
async fn a_beginning_that_is_withdrawn_keeps_the_session_until_its_work_is_done() {
    let lab = Lab::new();
    let store = lab.store();
    turn(&store, &key("a"), vec![user("cut")]).await;
    // As a kill leaves it, and with somebody who holds up everybody that writes.
    let database = rusqlite::Connection::open(lab.file()).unwrap();
    database
        .execute_batch("UPDATE turns SET state = 0")
        .unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let first_key = key("a");
    let begun = store.begin(&first_key, Duration::from_secs(9));
    let withdrawn = tokio::time::timeout(Duration::from_millis(300), begun).await;
    assert!(withdrawn.is_err(), "it did not have to wait");
    let other = lab.store();
    let refused = other.begin(&key("a"), Duration::ZERO).await;
    assert!(
        matches!(refused, Err(SessionError::InUse { .. })),
        "what is still to be written would be about somebody else's turn"
    );
    database.execute_batch("ROLLBACK").unwrap();
    let next = begin(&other, &key("a")).await;
    next.finish(TurnEnd::Complete).await.unwrap();
}
