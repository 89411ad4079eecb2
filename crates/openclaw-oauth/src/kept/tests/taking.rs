//! Taking out what is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::bad_files::edit;
use super::*;

/// What somebody does to a file.
type Damage<'a> = &'a dyn Fn(&Path);

/// Why what was taken out could not be opened.
async fn sealed(logins: &ServerLogins) -> String {
    match take(logins).await {
        Some(Taken::Sealed(reason)) => reason,
        Some(Taken::Opened(kept)) => panic!("opened: {kept:?}"),
        None => panic!("there was nothing"),
    }
}

#[tokio::test]
async fn where_nothing_is_kept_nobody_is_waited_for_and_nothing_is_made() {
    let place = Place::new();
    let logins = docs(&place.with(keyring_at("nonsense")));
    assert!(take(&logins).await.is_none());
    assert_eq!(place.files(), [""; 0], "neither a lock nor a key");
    let store = place.store();
    log_in(&docs(&store)).await;
    fs::remove_file(logins.path()).unwrap();
    let _lock = FileLock::acquire(&logins.path().with_extension("lock"), SOON).unwrap();
    assert!(take(&docs(&store)).await.is_none());
}

#[tokio::test]
async fn it_is_deleted_before_anybody_else_has_a_turn() {
    let place = Place::new();
    let (ours, theirs) = (docs(&place.store()), docs(&place.store()));
    log_in(&ours).await;
    let (begun, has_begun) = oneshot::channel();
    let (go_on, may_go_on) = oneshot::channel::<()>();
    let logins = ours.clone();
    let taking = tokio::spawn(async move {
        let taking = logins.take(SOON, |kept| {
            Box::pin(async move {
                let _ = begun.send(());
                let _ = may_go_on.await;
                kept
            })
        });
        taking.await
    });
    has_begun.await.unwrap();
    let is_first = Arc::new(AtomicBool::new(true));
    let changing = {
        let is_first = Arc::clone(&is_first);
        tokio::spawn(async move {
            change(&theirs, move |kept| {
                assert!(!is_first.load(Ordering::SeqCst));
                assert_eq!(*kept, KeptLogins::default(), "it is gone by then");
                kept.begin(pending("after"));
            })
            .await
        })
    };
    assert!(has_grant(&ours).await, "it is there until the end");
    is_first.store(false, Ordering::SeqCst);
    go_on.send(()).unwrap();
    let taken = taking.await.unwrap().unwrap();
    assert!(matches!(taken, Some(Taken::Opened(kept)) if kept.grant == Some(grant())));
    changing.await.unwrap().unwrap();
    let (_, kept) = docs(&place.store()).read().await.unwrap();
    assert_eq!(kept.pending, [pending("after")], "and stays");
}

#[tokio::test]
async fn what_was_begun_comes_to_its_end_although_nobody_waits_for_it_any_more() {
    let place = Place::new();
    let store = place.store();
    let logins = docs(&store);
    log_in(&logins).await;
    let (begun, has_begun) = oneshot::channel();
    let (go_on, may_go_on) = oneshot::channel::<()>();
    let waiting = {
        let logins = logins.clone();
        tokio::spawn(async move {
            let taking = logins.take(SOON, |_| {
                Box::pin(async move {
                    let _ = begun.send(());
                    let _ = may_go_on.await;
                })
            });
            taking.await.map(drop)
        })
    };
    has_begun.await.unwrap();
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    go_on.send(()).unwrap();
    store.settled().await;
    assert!(logins.stamp().is_absence());
}

#[tokio::test]
async fn what_can_not_be_opened_is_deleted_too_and_that_is_said() {
    let newer = |path: &Path| edit(path, |file| file["version"] = json!(2));
    let foreign = |path: &Path| {
        edit(path, |file| {
            file["data"]["key"] = json!("0000000000000000");
        });
    };
    let in_keyring = |path: &Path| {
        edit(path, |file| {
            file["data"]["key"] = json!("0000000000000000");
            file["data"]["keyPlace"] = json!("keyring");
        });
    };
    let damaged = |path: &Path| fs::write(path, "no login of ours").unwrap();
    let cases: [(Damage<'_>, &str); 4] = [
        (&newer, "update openclaw"),
        (&foreign, "another key"),
        (&in_keyring, "in a keyring"),
        (&damaged, "not JSON"),
    ];
    for (spoil, expected) in cases {
        let place = Place::new();
        log_in(&docs(&place.store())).await;
        let logins = docs(&place.store());
        spoil(logins.path());
        let reason = sealed(&logins).await;
        assert!(reason.contains(expected), "{reason}");
        assert!(!logins.path().exists(), "{expected}");
        let names = place.files();
        assert!(
            !names.iter().any(|name| name.contains("corrupt")),
            "{names:?}"
        );
    }
}

#[tokio::test]
async fn what_can_not_be_deleted_is_an_error_that_says_so() {
    let place = Place::new();
    let logins = docs(&place.store());
    fs::create_dir_all(logins.path().join("within")).unwrap();
    let taking = logins.take(SOON, |_| Box::pin(async {}));
    let error = taking.await.map(drop).unwrap_err();
    assert_eq!(error.remedy(), Remedy::Change);
    let text = error.to_string();
    let path = logins.path().display().to_string();
    assert!(
        text.starts_with(&format!("cannot delete the saved login {path}: ")),
        "{text}"
    );
    assert!(error.hint_text().unwrap().contains("writable"), "{error:?}");
}
