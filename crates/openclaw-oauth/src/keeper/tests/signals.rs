//! Who waits for news of a login.

use tokio::time::timeout;

use super::*;

/// How long is looked whether nothing happens.
const A_MOMENT: Duration = Duration::from_millis(700);

async fn is_needed(process: &Process) -> bool {
    let needed = process.keeper.login_needed();
    timeout(Duration::from_millis(1), needed).await.is_ok()
}

#[tokio::test]
async fn whoever_waits_is_told_that_a_login_is_needed_and_why() {
    let place = Place::new("");
    let process = place.logged_in().await;
    process.token().await;
    assert!(!is_needed(&process).await);
    let keeper = Arc::clone(&process.keeper);
    let waiting = tokio::spawn(async move { keeper.login_needed().await });
    place.fake.revoke_all();
    place.pass(HOUR);
    let error = process.keeper.token().await.unwrap_err();
    let reason = timeout(SOON, waiting).await.unwrap().unwrap();
    assert_eq!(*reason, error.to_string());
    // Whoever asks later is told at once.
    assert!(is_needed(&process).await);
    // Until there is a login.
    place.process().log_in().await;
    process.token().await;
    assert!(!is_needed(&process).await);
}

#[tokio::test]
async fn what_passes_and_what_is_only_too_little_is_no_reason_to_log_in() {
    let place = Place::new("--fail-refresh 503");
    let process = place.logged_in().await;
    let token = process.token().await;
    let widen = process
        .keeper
        .refused(Some(&token), insufficient(&["admin"]));
    widen.await.unwrap_err();
    assert!(!is_needed(&process).await);
    place.pass(HOUR);
    process.keeper.token().await.unwrap_err();
    assert!(!is_needed(&process).await);
}

#[tokio::test]
async fn whoever_waits_for_a_change_sees_that_of_another_process() {
    let place = Place::new("");
    let (process, other) = (place.logged_in().await, place.process());
    process.token().await;
    other.desk.log_out().await.unwrap();
    assert!(process.keeper.token().await.unwrap().is_none());
    let refused = process.keeper.refused(None, unauthorized()).await;
    refused.unwrap_err();
    assert!(is_needed(&process).await, "there was a login");
    let waits = timeout(A_MOMENT, process.keeper.changed());
    assert!(waits.await.is_err(), "nothing has changed");
    let keeper = Arc::clone(&process.keeper);
    let waiting = tokio::spawn(async move { keeper.changed().await });
    other.log_in().await;
    timeout(SOON, waiting).await.unwrap().unwrap();
    assert!(!is_needed(&process).await, "it is worth another attempt");
    process.token().await;
    // And that somebody logs out.
    let keeper = Arc::clone(&process.keeper);
    let waiting = tokio::spawn(async move { keeper.changed().await });
    other.desk.log_out().await.unwrap();
    timeout(SOON, waiting).await.unwrap().unwrap();
}

#[tokio::test]
async fn where_nobody_has_logged_in_a_refusal_ends_nothing_that_goes_on_without() {
    let place = Place::new("");
    let process = place.process();
    assert!(process.keeper.token().await.unwrap().is_none());
    let refused = process.keeper.refused(None, unauthorized()).await;
    assert_eq!(refused.unwrap_err().remedy(), Remedy::LogIn);
    assert!(!is_needed(&process).await);
}

#[tokio::test]
async fn a_change_before_anybody_waits_for_it_is_not_missed() {
    let place = Place::new("");
    let process = place.process();
    process
        .keeper
        .refused(None, unauthorized())
        .await
        .unwrap_err();
    assert!(process.keeper.token().await.unwrap().is_none());
    place.process().log_in().await;
    timeout(SOON, process.keeper.changed()).await.unwrap();
}
