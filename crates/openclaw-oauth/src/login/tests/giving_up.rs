//! Logging out.

use std::fs;

use super::*;
use crate::testing::field;

#[tokio::test]
async fn a_login_that_is_given_up_is_worth_nothing_anywhere() {
    let place = Place::new("");
    let (process, other) = (place.logged_in().await, place.process());
    let token = other.token().await;
    let refresh_token = process.grant().await.refresh_token.unwrap();
    let logged_out = process.desk.log_out().await.unwrap();
    assert_eq!(
        logged_out,
        LoggedOut {
            was_logged_in: true,
            revocation: Revoked::Done,
        }
    );
    assert!(!place.takes(&token).await);
    assert!(place.fake.counters().revocations >= 1);
    let asked = place.fake.asked();
    let given_back: Vec<Option<String>> = asked
        .iter()
        .filter(|it| it.path == "/revoke")
        .map(|it| field(it, "token"))
        .collect();
    let whole_login = Some(refresh_token.expose().to_owned());
    assert!(given_back.contains(&whole_login), "{}", given_back.len());
    for process in [&process, &other] {
        assert!(process.keeper.at_hand().is_none());
        assert!(process.keeper.token().await.unwrap().is_none());
        assert_eq!(process.keeper.state().await.unwrap(), None);
        assert!(!process.keeper.is_kept());
    }
    assert!(!process.logins.path().exists());
    let again = other.desk.log_out().await.unwrap();
    assert!(!again.was_logged_in);
    other.log_in().await;
    assert!(place.takes(&process.token().await).await);
}

#[tokio::test]
async fn what_can_not_be_withdrawn_is_forgotten_all_the_same_and_that_is_said() {
    let place = Place::new("--no-revocation");
    let process = place.logged_in().await;
    let logged_out = process.desk.log_out().await.unwrap();
    assert_eq!(logged_out.revocation, Revoked::NotOffered);
    assert!(!process.logins.path().exists());
    let place = Place::new("--fault revocation-down");
    let process = place.logged_in().await;
    let logged_out = process.desk.log_out().await.unwrap();
    assert!(
        matches!(logged_out.revocation, Revoked::Failed(_)),
        "{logged_out:?}"
    );
    assert!(logged_out.was_logged_in);
    assert!(!process.logins.path().exists());
}

#[tokio::test]
async fn what_can_not_be_opened_can_be_given_up() {
    let place = Place::new("");
    let process = place.logged_in().await;
    fs::write(process.logins.path(), "no login of ours").unwrap();
    let logged_out = process.desk.log_out().await.unwrap();
    assert!(logged_out.was_logged_in);
    let Revoked::Failed(reason) = logged_out.revocation else {
        panic!("{logged_out:?}")
    };
    assert!(reason.contains("could not be opened"), "{reason}");
    assert!(!process.logins.path().exists());
    assert!(process.keeper.token().await.unwrap().is_none());
}

#[tokio::test]
async fn logging_out_waits_for_a_renewal_that_is_under_way() {
    let place = Place::new("--token-delay 50");
    let process = place.logged_in().await;
    place.pass(60 * MINUTE);
    let keeper = process.keeper.clone();
    let renewing = tokio::spawn(async move { keeper.token().await });
    place.until_refreshes(1).await;
    let logged_out = place.process().desk.log_out().await.unwrap();
    assert_eq!(logged_out.revocation, Revoked::Done);
    // It may have got its token before that was withdrawn, or else nothing.
    if let Ok(Some(token)) = renewing.await.unwrap() {
        assert!(!place.takes(&token).await, "the newest is withdrawn");
    }
    assert!(!process.logins.path().exists());
    assert!(process.keeper.token().await.unwrap().is_none());
}
