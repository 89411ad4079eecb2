//! Stores that are damaged, of others, or of newer versions.

use std::fs;
use std::path::Path;
use std::time::Duration;

use openclaw_sessions::{SessionError, SessionStore as _, TurnEnd, stores_set_aside};

use crate::lab::{Lab, begin, is_full_scale, key, texts, turn, user};
use crate::worker::Worker;

/// A store with two hundred messages in several sessions, closed.
async fn filled(lab: &Lab) {
    let store = lab.store();
    for session in 0..10 {
        let words = format!("session {session} ").repeat(60);
        let messages = (0..20).map(|_| user(&words)).collect();
        turn(&store, &key(&format!("s{session}")), messages).await;
    }
    store.close().await;
}

/// Everything works, and what could not be read is set aside and reported.
async fn goes_on(lab: &Lab) {
    let before = stores_set_aside(lab.state()).len();
    let store = lab.store();
    let mut read = Vec::new();
    for session in 0..10 {
        read.extend(store.show(&key(&format!("s{session}"))).await.unwrap());
    }
    let mut next = begin(&store, &key("s3")).await;
    next.history().await.unwrap();
    next.append(vec![user("goes on")]).await.unwrap();
    next.finish(TurnEnd::Complete).await.unwrap();
    let shown = store.show(&key("s3")).await.unwrap().unwrap();
    assert_eq!(texts(&shown).last().unwrap(), "goes on");
    let aside = stores_set_aside(lab.state());
    assert_eq!(aside.len(), before + 1, "{aside:?}");
    let remarks = store.remarks();
    assert_eq!(remarks.len(), 1, "{remarks:?}");
    assert!(
        remarks[0].contains(&aside[before].display().to_string()),
        "{remarks:?}"
    );
    store.close().await;
    assert_eq!(lab.integrity(), "ok");
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn garbage_is_set_aside() {
    let lab = Lab::new();
    filled(&lab).await;
    fs::write(
        lab.file(),
        "this is no database, whatever its name says\n".repeat(100),
    )
    .unwrap();
    goes_on(&lab).await;
    let aside = stores_set_aside(lab.state());
    assert!(
        fs::read_to_string(&aside[0])
            .unwrap()
            .starts_with("this is no database")
    );
    // And again: the first is kept.
    fs::write(lab.file(), [0xff; 5_000]).unwrap();
    goes_on(&lab).await;
}

#[tokio::test]
async fn a_damaged_header_is_set_aside() {
    let lab = Lab::new();
    filled(&lab).await;
    change(&lab.file(), |bytes| bytes[..100].fill(0x5a));
    goes_on(&lab).await;
}

#[tokio::test]
async fn a_truncated_store_is_set_aside() {
    let lab = Lab::new();
    filled(&lab).await;
    change(&lab.file(), |bytes| bytes.truncate(bytes.len() / 2));
    goes_on(&lab).await;
}

#[tokio::test]
async fn a_store_with_pages_of_zeros_is_set_aside() {
    let lab = Lab::new();
    filled(&lab).await;
    change(&lab.file(), |bytes| {
        let middle = bytes.len() / 4096 / 3 * 4096;
        bytes[middle..middle + 4096 * 5].fill(0);
    });
    goes_on(&lab).await;
}

#[tokio::test]
async fn a_directory_in_its_place_is_set_aside() {
    let lab = Lab::new();
    fs::create_dir_all(lab.file().join("something")).unwrap();
    goes_on(&lab).await;
    assert!(stores_set_aside(lab.state())[0].join("something").is_dir());
}

#[tokio::test]
async fn the_database_of_another_program_is_set_aside() {
    let lab = Lab::new();
    fs::create_dir_all(lab.file().parent().unwrap()).unwrap();
    let database = rusqlite::Connection::open(lab.file()).unwrap();
    database.execute_batch("CREATE TABLE theirs (x)").unwrap();
    drop(database);
    goes_on(&lab).await;
}

#[tokio::test]
async fn a_store_without_its_tables_is_set_aside() {
    let lab = Lab::new();
    filled(&lab).await;
    let database = rusqlite::Connection::open(lab.file()).unwrap();
    database.execute_batch("DROP TABLE links").unwrap();
    drop(database);
    goes_on(&lab).await;
}

#[tokio::test]
async fn an_empty_file_becomes_a_store() {
    let lab = Lab::new();
    fs::create_dir_all(lab.file().parent().unwrap()).unwrap();
    fs::write(lab.file(), "").unwrap();
    let store = lab.store();
    assert_eq!(store.count().await.unwrap(), 0);
    turn(&store, &key("a"), vec![user("x")]).await;
    assert_eq!(store.count().await.unwrap(), 1);
    assert_eq!(store.remarks(), Vec::<String>::new());
}

/// Puts the journal of one store beside another one.
async fn with_foreign_journal(lab: &Lab, journal: &[u8]) {
    fs::write(lab.state().join("sessions/sessions.sqlite-wal"), journal).unwrap();
    let store = lab.store();
    let mut next = begin(&store, &key("s3")).await;
    next.history().await.unwrap();
    next.append(vec![user("goes on")]).await.unwrap();
    next.finish(TurnEnd::Complete).await.unwrap();
    let shown = store.show(&key("s3")).await.unwrap().unwrap();
    assert_eq!(texts(&shown).last().unwrap(), "goes on");
    store.close().await;
}

#[tokio::test]
async fn a_journal_of_another_store_or_of_garbage_stops_nothing() {
    let other = Lab::new();
    filled(&other).await;
    let store = other.store();
    let mut running = begin(&store, &key("x")).await;
    running.append(vec![user("in the journal")]).await.unwrap();
    let journal = fs::read(other.state().join("sessions/sessions.sqlite-wal")).unwrap();
    assert!(!journal.is_empty());
    for journal in [journal, vec![7; 10_000]] {
        let lab = Lab::new();
        filled(&lab).await;
        with_foreign_journal(&lab, &journal).await;
    }
}

#[tokio::test]
async fn any_damage_leads_to_an_answer_or_a_new_store() {
    let rounds = if is_full_scale() { 200 } else { 20 };
    let lab = Lab::new();
    filled(&lab).await;
    let whole = fs::read(lab.file()).unwrap();
    for round in 0..rounds {
        let lab = Lab::new();
        fs::create_dir_all(lab.file().parent().unwrap()).unwrap();
        let mut bytes = whole.clone();
        // Spread over the file, the first page more than others.
        let at = if round % 4 == 0 {
            round * 13 % 4096
        } else {
            round * 7_919 * 31 % whole.len()
        };
        let end = (at + 300).min(bytes.len());
        for byte in &mut bytes[at..end] {
            *byte ^= 0xa5;
        }
        fs::write(lab.file(), bytes).unwrap();
        let store = lab.store();
        for session in 0..10 {
            let shown = store.show(&key(&format!("s{session}"))).await;
            if let Err(error) = shown {
                let text = error.to_string();
                assert!(text.contains("newer"), "{text}");
            }
        }
        let begun = store.begin(&key("new"), Duration::from_secs(1)).await;
        let mut turn = match begun {
            Ok(turn) => turn,
            // A changed byte may be that of the version.
            Err(SessionError::Newer { .. }) => continue,
            Err(error) => panic!("round {round}: {error}"),
        };
        turn.append(vec![user("goes on")]).await.unwrap();
        turn.finish(TurnEnd::Complete).await.unwrap();
        let shown = store.show(&key("new")).await.unwrap().unwrap();
        assert_eq!(texts(&shown), ["goes on"]);
    }
}

#[tokio::test]
async fn a_message_that_can_not_be_read_costs_only_itself() {
    let lab = Lab::new();
    let store = lab.store();
    let messages = vec![user("one"), user("two"), user("three")];
    turn(&store, &key("a"), messages).await;
    let database = rusqlite::Connection::open(lab.file()).unwrap();
    let broken = "UPDATE messages SET body = CAST(x'7bff00' AS TEXT) WHERE number = 2";
    database.execute_batch(broken).unwrap();
    let mut next = begin(&store, &key("a")).await;
    let found = texts(&next.history().await.unwrap());
    assert_eq!((found[0].as_str(), found[2].as_str()), ("one", "three"));
    assert!(found[1].contains("can't be read"), "{found:?}");
    store.show(&key("a")).await.unwrap();
    assert_eq!(store.remarks().len(), 1);
    assert_eq!(stores_set_aside(lab.state()).len(), 0);
}

#[tokio::test]
async fn a_message_that_is_gone_costs_only_itself() {
    let lab = Lab::new();
    let store = lab.store();
    turn(
        &store,
        &key("a"),
        vec![user("one"), user("two"), user("three")],
    )
    .await;
    turn(&store, &key("b"), vec![user("other")]).await;
    let database = rusqlite::Connection::open(lab.file()).unwrap();
    let deletion = "DELETE FROM messages WHERE number = 2";
    database.execute_batch(deletion).unwrap();
    let shown = store.show(&key("a")).await.unwrap().unwrap();
    assert_eq!(texts(&shown), ["one", "three"]);
    assert_eq!(store.remarks().len(), 1, "{:?}", store.remarks());
    assert!(store.show(&key("b")).await.unwrap().is_some());
    assert_eq!(stores_set_aside(lab.state()).len(), 0);
}

#[tokio::test]
async fn tables_of_others_do_no_harm() {
    let lab = Lab::new();
    filled(&lab).await;
    let database = rusqlite::Connection::open(lab.file()).unwrap();
    database.execute_batch("CREATE TABLE notes (x)").unwrap();
    drop(database);
    let store = lab.store();
    assert!(store.show(&key("s3")).await.unwrap().is_some());
    assert_eq!(stores_set_aside(lab.state()).len(), 0);
    store.close().await;
}

#[tokio::test]
async fn several_processes_set_a_damaged_store_aside_once() {
    let lab = Lab::new();
    filled(&lab).await;
    fs::write(lab.file(), vec![7; 20_000]).unwrap();
    let workers: Vec<Worker> = (0..8)
        .map(|number| Worker::start(lab.state(), &format!("turns new{number} x 3")))
        .collect();
    for worker in workers {
        assert_eq!(worker.end().len(), 15);
    }
    assert_eq!(stores_set_aside(lab.state()).len(), 1);
    let store = lab.store();
    assert_eq!(store.count().await.unwrap(), 8);
    for number in 0..8 {
        let shown = store
            .show(&key(&format!("new{number}")))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(shown.len(), 12);
    }
    assert_eq!(lab.integrity(), "ok");
}

#[tokio::test]
async fn a_turn_goes_on_in_the_new_store_when_another_process_set_the_old_one_aside() {
    let lab = Lab::new();
    let (one, other) = (lab.store(), lab.store());
    turn(&one, &key("b"), vec![user("old")]).await;
    let mut running = begin(&one, &key("a")).await;
    running.append(vec![user("before")]).await.unwrap();
    other.count().await.unwrap();
    // What setting aside does, under the feet of both.
    let aside = lab.state().join("sessions/sessions.sqlite.corrupt-1");
    for suffix in ["-wal", "-shm", ""] {
        let name = |path: &Path| format!("{}{suffix}", path.display());
        fs::rename(name(&lab.file()), name(&aside)).unwrap();
    }
    turn(&other, &key("b"), vec![user("new")]).await;
    running.append(vec![user("after")]).await.unwrap();
    running.finish(TurnEnd::Complete).await.unwrap();
    one.close().await;
    other.close().await;
    let store = lab.store();
    for (name, text) in [("a", "after"), ("b", "new")] {
        let shown = store.show(&key(name)).await.unwrap().unwrap();
        assert_eq!(texts(&shown), [text]);
        assert_eq!(shown[0].state, openclaw_sessions::TurnState::Complete);
    }
    assert_eq!(lab.integrity(), "ok");
}

#[tokio::test]
async fn a_newer_store_is_refused_and_stays_as_it_is() {
    let lab = Lab::new();
    filled(&lab).await;
    let database = rusqlite::Connection::open(lab.file()).unwrap();
    database.execute_batch("PRAGMA user_version = 7").unwrap();
    drop(database);
    let before = fs::read(lab.file()).unwrap();
    let store = lab.store();
    let refused = [
        store.begin(&key("a"), Duration::ZERO).await.err().unwrap(),
        store.count().await.unwrap_err(),
        store.delete(&key("s1"), Duration::ZERO).await.unwrap_err(),
    ];
    for error in refused {
        assert!(
            matches!(
                error,
                SessionError::Newer {
                    found: 7,
                    known: 1,
                    ..
                }
            ),
            "{error}"
        );
    }
    store.close().await;
    drop(store);
    assert_eq!(fs::read(lab.file()).unwrap(), before);
    assert_eq!(stores_set_aside(lab.state()).len(), 0);
}
