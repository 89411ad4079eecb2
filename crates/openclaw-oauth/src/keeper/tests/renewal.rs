//! Renewing: once, for everybody, and for good.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::*;

/// All get a token at once; returns what they got, each once.
async fn all_at_once(keepers: Vec<Arc<Keeper>>) -> Vec<Secret> {
    let mut tasks = JoinSet::new();
    for keeper in keepers {
        tasks.spawn(async move { keeper.token().await.unwrap().unwrap() });
    }
    let mut different: Vec<Secret> = Vec::new();
    while let Some(token) = tasks.join_next().await {
        let token = token.unwrap().secret().clone();
        if !different.contains(&token) {
            different.push(token);
        }
    }
    different
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn thirty_two_tasks_that_need_a_new_token_at_once_cause_one_refresh() {
    let place = Place::new("--token-delay 20");
    let process = place.logged_in().await;
    for round in 1..=repeats(50, 3) {
        place.pass(HOUR);
        let different = all_at_once(vec![Arc::clone(&process.keeper); 32]).await;
        assert_eq!(different.len(), 1);
        assert_eq!(place.refresh_requests(), round as u64);
    }
    assert_eq!(place.fake.counters().reuses, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn processes_that_need_a_new_token_at_once_cause_one_refresh() {
    let place = Place::new("--token-delay 20");
    place.logged_in().await;
    let processes: Vec<Process> = (0..8).map(|_| place.process()).collect();
    for process in &processes {
        process.token().await;
    }
    for round in 1..=repeats(50, 3) {
        place.pass(HOUR);
        let keepers = processes.iter().map(|it| Arc::clone(&it.keeper));
        let different = all_at_once(keepers.cycle().take(32).collect()).await;
        assert_eq!(different.len(), 1);
        assert_eq!(place.refresh_requests(), round as u64);
    }
    assert_eq!(place.fake.counters().reuses, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn thirty_two_requests_that_are_refused_at_once_cause_one_refresh() {
    let place = Place::new("--token-delay 20");
    let process = place.logged_in().await;
    let token = process.token().await;
    place.fake.revoke_access();
    let mut tasks = JoinSet::new();
    for _ in 0..32 {
        let (keeper, token) = (Arc::clone(&process.keeper), token.clone());
        tasks.spawn(async move { keeper.refused(Some(&token), unauthorized()).await });
    }
    while let Some(outcome) = tasks.join_next().await {
        outcome.unwrap().unwrap();
    }
    assert_eq!(place.refresh_requests(), 1);
    assert!(place.takes(&process.keeper.at_hand().unwrap()).await);
}

#[tokio::test]
async fn a_renewal_whose_caller_goes_away_lands_on_disk() {
    let place = Place::new("--token-delay 50");
    let process = place.logged_in().await;
    let before = process.grant().await;
    place.pass(HOUR);
    let keeper = Arc::clone(&process.keeper);
    let asking = tokio::spawn(async move { keeper.token().await });
    place.until_refreshes(1).await;
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    process.store.settled().await;
    let after = process.grant().await;
    assert_ne!(after.access_token, before.access_token);
    assert_ne!(after.refresh_token, before.refresh_token);
    // What has landed is found, here and elsewhere, and nobody asks again.
    for process in [process, place.process()] {
        assert_eq!(*process.token().await.secret(), after.access_token);
        assert!(place.takes(&process.keeper.at_hand().unwrap()).await);
    }
    assert_eq!(place.refresh_requests(), 1);
}

#[tokio::test]
async fn what_another_process_has_renewed_is_taken_over_without_a_request() {
    let place = Place::new("");
    let (ours, theirs) = (place.logged_in().await, place.process());
    let old = ours.token().await;
    place.pass(HOUR);
    let new = theirs.token().await;
    assert_eq!(place.refresh_requests(), 1);
    assert!(ours.keeper.at_hand().is_none());
    assert_eq!(ours.token().await.secret(), new.secret());
    // And so it is where a server refuses the old one.
    ours.keeper
        .refused(Some(&old), unauthorized())
        .await
        .unwrap();
    assert_eq!(ours.keeper.at_hand().unwrap().secret(), new.secret());
    assert_eq!(place.refresh_requests(), 1);
}

#[tokio::test]
async fn a_refused_token_that_was_replaced_meanwhile_is_not_renewed() {
    let place = Place::new("");
    let (ours, theirs) = (place.logged_in().await, place.process());
    let old = ours.token().await;
    place.fake.revoke_access();
    let token = theirs.token().await;
    theirs
        .keeper
        .refused(Some(&token), unauthorized())
        .await
        .unwrap();
    assert_eq!(place.refresh_requests(), 1);
    // This one has not looked since.
    ours.keeper
        .refused(Some(&old), unauthorized())
        .await
        .unwrap();
    assert!(place.takes(&ours.keeper.at_hand().unwrap()).await);
    assert_eq!(place.refresh_requests(), 1);
}

#[tokio::test]
async fn a_refresh_token_is_replaced_where_a_new_one_comes_and_kept_where_none_does() {
    for (flags, is_replaced) in [("", true), ("--keep-refresh-token", false)] {
        let place = Place::new(flags);
        let process = place.logged_in().await;
        let first = process.grant().await;
        for _ in 0..3 {
            let before = process.grant().await;
            place.pass(HOUR);
            assert!(place.takes(&process.token().await).await, "{flags}");
            let after = process.grant().await;
            let is_other = before.refresh_token != after.refresh_token;
            assert_eq!(is_other, is_replaced, "{flags}");
            assert!(after.refresh_token.is_some(), "{flags}");
            assert_eq!(after.login, first.login, "{flags}");
            assert_eq!(after.received_at, place.now(), "{flags}");
        }
        assert_eq!(place.refresh_requests(), 3, "{flags}");
    }
}

#[tokio::test]
async fn without_a_refresh_token_a_person_is_needed_once_the_token_has_expired() {
    let place = Place::new("--no-refresh-token");
    let process = place.logged_in().await;
    let token = process.token().await;
    let state = process.keeper.state().await.unwrap().unwrap();
    assert!(!state.is_renewable);
    place.set_clock(START + HOUR - 1);
    assert!(process.token().await.is(&token), "it is still good");
    assert!(process.keeper.at_hand().unwrap().is(&token));
    place.set_clock(START + HOUR);
    assert!(
        process.keeper.at_hand().is_none(),
        "an expired one is not shown"
    );
    let error = process.keeper.token().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::LogIn);
    assert_eq!(place.token_requests(), 1, "that of the login");
    process.log_in().await;
    assert!(place.takes(&process.token().await).await);
}
